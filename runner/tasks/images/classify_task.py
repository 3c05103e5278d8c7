"""The task `classify` as the runner sees it; what needs torch is imported when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from omegaconf import DictConfig

from runner.config.data.known_files import verifies
from runner.tasks.images.fit_settings import classifier_settings
from runner.tasks.images.image_task import ImageTask, data_of_target
from runner.tasks.task import Parts

if TYPE_CHECKING:
    from runner.problem.problems import Problems
    from runner.store.run_files import RunResult
    from runner.store.run_folder import RunFolder
    from runner.store.run_store import Store


class Classify(ImageTask):
    """Sorts a sampler's images by a LeNet-5 that is fitted to the data set's labelled training images."""

    def directions(self, config: DictConfig) -> Mapping[str, str]:
        return {"class_tv": "min"}

    def identity(self, config: DictConfig, parts: Parts) -> Parts:
        """What makes the images, and labels that are not known."""
        from runner.tasks.images.labels import unknown_labels

        known = verifies(config)
        labels = {} if known else unknown_labels(config, data_of_target(config)[1])
        return {**super().identity(config, parts), **labels}

    def check_values(self, config: DictConfig) -> None:
        super().check_values(config)
        classifier_settings(config)

    def check_settings(self, config: DictConfig) -> None:
        from runner.tasks.images.labels import labels_of

        data, name, _ = data_of_target(config)
        labels_of(data, name, config.data.root, verifies(config))

    def run(
        self, config: DictConfig, seed: int, store: Store, folder: RunFolder, problems: Problems
    ) -> RunResult:
        """Makes the images and sorts them; images and classifier that are cached are read.

        ``class_K`` is the share of the images that are sorted into class K, ``real_K`` that of the training
        images by their labels, ``class_tv`` their distance in total variation.

        Raises:
            UserError: if the data set or the model cannot be had, or there are no labels.
            RunError: if the chains or the fit meet NaN.
        """
        from runner.tasks.images.classify import classified

        return classified(config, seed, store, problems)
