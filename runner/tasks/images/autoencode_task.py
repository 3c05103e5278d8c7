"""The task `autoencode` as the runner sees it; what needs torch is imported when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omegaconf import DictConfig

from runner.config.construct import errors_at
from runner.config.key_group import node
from runner.config.run_settings import LATER, without_values
from runner.execution.errors import UserError
from runner.tasks.images.fit_settings import AUTOENCODER, DESCRIBED, RELEASED, autoencoder_values
from runner.tasks.images.image_task import ImageTask, data_of_target, image_settings
from runner.tasks.task import Parts
from targets.checks import one_of, whole_number, within

if TYPE_CHECKING:
    from runner.problem.problems import Problems
    from runner.store.run_files import RunResult
    from runner.store.run_folder import RunFolder
    from runner.store.run_store import Store
    from targets.datasets.dataset import Dataset

CLEAN, NOISY, OCCLUDED = "clean", "noisy", "occluded"
BINARY, GREY = "binary", "grey"

OF_INPUT = {"task.noise": NOISY, "task.occlusion": OCCLUDED}
"""Keys that are read for one kind of input alone."""

OF_DESCRIBED = ("task.occlusion", f"{AUTOENCODER}.code")
"""Keys that the protocol ``described`` alone reads."""


@dataclass(frozen=True)
class TestSettings:
    """Which test images, and what is done to them.

    Attributes:
        test: ``binary``, as the target learned them, or ``grey``.
        input: ``clean``, ``noisy`` or ``occluded``.
        noise: standard deviation of the noise.
        occlusion: side of the block of zeros, in pixels; None: drawn for each image, as released.
    """

    test: str
    input: str
    noise: float
    occlusion: int | None


def test_values(config: DictConfig) -> TestSettings:
    """The settings of the test, checked as far as they do not depend on the images.

    Raises:
        UserError: naming the key, the value given and what is allowed.
    """
    task = node(config, "task")
    released = task.get("protocol") == RELEASED
    with errors_at("task", task):
        return TestSettings(
            test=one_of("test", task.get("test"), (BINARY, GREY)),
            input=one_of("input", task.get("input"), (CLEAN, NOISY, OCCLUDED)),
            noise=within("noise", task.get("noise"), 0.0, 1.0),
            occlusion=None if released else whole_number("occlusion", task.get("occlusion")),
        )


def test_settings(config: DictConfig, data: Dataset) -> TestSettings:
    """The checked settings of the test.

    Raises:
        UserError: naming the key, the value given and what is allowed.
    """
    settings = test_values(config)
    if settings.input == OCCLUDED and (settings.occlusion or 0) > min(data.shape):
        height, width = data.shape
        raise UserError(
            f"task.occlusion must fit into images of {height} x {width} pixels, "
            f"{settings.occlusion} was given."
        )
    if settings.test == GREY and data.grey_test is None:
        raise UserError(f"task.test=grey needs a data set with grey values, {data.name} is black and white.")
    return settings


class Autoencode(ImageTask):
    """Fits autoencoders to a sampler's images and tests them on the data set's test images."""

    def directions(self, config: DictConfig) -> Mapping[str, str]:
        measures = {"mse": "min", "psnr": "max", "ssim": "max"}
        if config.task.get("protocol") == RELEASED:
            return measures | {f"{name}_given": direction for name, direction in measures.items()}
        return measures | {"pixel_log_likelihood": "max"}

    def identity(self, config: DictConfig, parts: Parts) -> Parts:
        """Without the values that mean what was done before there was a key (`LATER`)."""
        parts = super().identity(config, parts)
        return {**parts, "task": without_values(parts["task"], LATER["autoencode"])}

    def why_unread(self, config: DictConfig, key: str) -> str | None:
        """What makes a sampler's images, and what is done to test images of another kind."""
        if key in OF_DESCRIBED and config.task.get("protocol") == RELEASED:
            return f"only task.protocol={DESCRIBED} reads it"
        kind = OF_INPUT.get(key)
        if kind in (None, config.task.input):
            return super().why_unread(config, key)
        return f"only task.input={kind} reads it"

    def check_values(self, config: DictConfig) -> None:
        super().check_values(config)
        test_values(config)
        autoencoder_values(config)

    def check_settings(self, config: DictConfig) -> None:
        from runner.tasks.images.autoencoders import autoencoder_settings

        data, _, _ = data_of_target(config)
        test_settings(config, data)
        autoencoder_settings(config, data, image_settings(config).samples)

    def run(
        self, config: DictConfig, seed: int, store: Store, folder: RunFolder, problems: Problems
    ) -> RunResult:
        """Makes the images, fits the autoencoders and tests them; what is cached is read.

        The target of each reconstruction is the clean image, whatever the network is given; measures named
        ``_given`` compare with that, as the released code does.

        Raises:
            UserError: if the data set or the model cannot be had.
            RunError: if the chains or a fit meet NaN.
        """
        from runner.tasks.images.autoencode import autoencoded

        return autoencoded(config, seed, store, problems)
