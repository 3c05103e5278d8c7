"""The task `classify`: what classes a LeNet-5 finds in a sampler's images (EDLP, Figure 14)."""

from __future__ import annotations

import time

import torch
from omegaconf import DictConfig

from metrics.applications.image_classes import class_entropy, class_shares, classes_seen
from metrics.enumeration.transition_matrix import total_variation
from runner.execution.atomic_files import write_bytes
from runner.problem.problems import Problems
from runner.store.array_files import DRAWS, MOST, images_file
from runner.store.run_files import RunResult
from runner.store.run_store import RunFolder, Store
from runner.tasks.images.classifier import classifier, classifier_settings
from runner.tasks.images.image_settings import data_of_target
from runner.tasks.images.image_task import ImageTask
from runner.tasks.images.labels import labels_of
from runner.tasks.images.sampled_images import images_of


class Classify(ImageTask):
    """Sorts a sampler's images by a LeNet-5 that is fitted to the data set's labelled training images."""

    def check_settings(self, config: DictConfig) -> None:
        data, name, _ = data_of_target(config)
        classifier_settings(config)
        labels_of(data, name, config.data.root)

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
        started = time.monotonic()
        data, name, binarisation = data_of_target(config)
        labels = labels_of(data, name, config.data.root)
        images = images_of(config, seed, store, problems)
        network = classifier(data, labels, name, binarisation, config, store)
        found = network.probabilities(images.pixels)
        number = len(labels.names)
        shares, real = class_shares(found.argmax(-1), number), class_shares(labels.train, number)
        values = {
            "class_tv": total_variation(shares, real),
            "class_entropy": class_entropy(shares),
            "classes_seen": float(classes_seen(shares)),
            "confidence": float(found.amax(-1).mean()),
            "classifier_accuracy": network.accuracy,
            "classifier_seconds": network.seconds,
            "distinct": len(torch.unique(images.pixels.flatten(1), dim=0)) / len(images.pixels),
        }
        for place, label in enumerate(labels.names):
            values |= {f"class_{label}": float(shares[place]), f"real_{label}": float(real[place])}
        # One draw of every chain, spread over the whole set.
        step = max(1, len(images.pixels) // MOST)
        write_bytes(folder.path / DRAWS, images_file(images.pixels[::step][:MOST].numpy()))
        return images.result(seed, values, seconds=0.0, started=started)
