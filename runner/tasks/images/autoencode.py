"""The task `autoencode`: autoencoders fitted to a sampler's images and tested on real ones (EDLP Table 1)."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import torch
from omegaconf import DictConfig
from torch import Tensor

from metrics.applications.reconstruction import (
    ConvolutionalAutoencoder,
    noisy,
    occluded,
    pixel_log_likelihood,
    psnr,
    squared_error,
    ssim,
)
from runner.config.construct import errors_at
from runner.config.key_group import node
from runner.execution import signals
from runner.execution.errors import UserError
from runner.problem.problems import Problems
from runner.store.run_files import RunResult
from runner.store.run_folder import RunFolder
from runner.store.run_store import Store
from runner.tasks.images.autoencoders import autoencoder_settings, autoencoders
from runner.tasks.images.image_task import ImageTask, data_of_target, image_settings
from runner.tasks.images.sampled_images import images_of
from targets import Dataset, Streams
from targets.checks import one_of, whole_number, within

CLEAN, NOISY, OCCLUDED = "clean", "noisy", "occluded"
CHUNK = 500
"""Test images that are reconstructed at a time."""


@dataclass(frozen=True)
class TestSettings:
    """What is done to the test images.

    Attributes:
        input: ``clean``, ``noisy`` or ``occluded``.
        noise: standard deviation of the noise.
        occlusion: side of the block of zeros, in pixels.
    """

    input: str
    noise: float
    occlusion: int


def test_settings(config: DictConfig, data: Dataset) -> TestSettings:
    """The checked settings of the test.

    Raises:
        UserError: naming the key, the value given and what is allowed.
    """
    task = node(config, "task")
    with errors_at("task", task):
        settings = TestSettings(
            input=one_of("input", task.get("input"), (CLEAN, NOISY, OCCLUDED)),
            noise=within("noise", task.get("noise"), 0.0, 1.0),
            occlusion=whole_number("occlusion", task.get("occlusion")),
        )
    if settings.occlusion > min(data.shape):
        height, width = data.shape
        raise UserError(
            f"task.occlusion must fit into images of {height} x {width} pixels, "
            f"{settings.occlusion} was given."
        )
    return settings


class Autoencode(ImageTask):
    """Fits autoencoders to a sampler's images and tests them on the data set's test images."""

    def check_settings(self, config: DictConfig) -> None:
        data, _, _ = data_of_target(config)
        test_settings(config, data)
        autoencoder_settings(config, data, image_settings(config).samples)

    def run(
        self, config: DictConfig, seed: int, store: Store, folder: RunFolder, problems: Problems
    ) -> RunResult:
        """Makes the images, fits the autoencoders and tests them; what is cached is read.

        The target of each reconstruction is the clean image, whatever the network is given.

        Raises:
            UserError: if the data set or the model cannot be had.
            RunError: if the chains or a fit meet NaN.
        """
        started = time.monotonic()
        data, _, _ = data_of_target(config)
        images = images_of(config, seed, store, problems)
        settings = autoencoder_settings(config, data, len(images.pixels))
        networks, fitting, notes = autoencoders(images, settings, seed, config)
        like = next(networks[0].parameters())
        clean = data.test.reshape(-1, *data.shape).to(device=like.device)
        given = degraded(clean.to(like.dtype), test_settings(config, data), seed)
        by_network = [reconstruction(network, clean, given) for network in networks]
        values = {name: _mean([one[name] for one in by_network]) for name in by_network[0]}
        spread = {f"{name}_sd": _deviation([one[name] for one in by_network]) for name in by_network[0]}
        made = {"sampling_seconds": float(images.report["seconds"]), "fitting_seconds": fitting}
        made["pixel_mean"] = float(images.pixels.double().mean())
        values = {**made, **values, **spread}
        return images.result(seed, values, seconds=fitting, started=started, notes=notes)


def degraded(clean: Tensor, settings: TestSettings, seed: int) -> Tensor:
    """What the networks are given: the same for all samplers and networks of a seed.

    Random numbers are drawn on the CPU, so that they are the same wherever the run is computed.
    """
    streams = Streams([seed], f"test images/{settings.input}", "cpu")
    there = clean.cpu()
    if settings.input == NOISY:
        there = noisy(there, settings.noise, streams)
    elif settings.input == OCCLUDED:
        there = occluded(there, settings.occlusion, streams)
    return there.to(clean.device)


@torch.no_grad()
def reconstruction(network: ConvolutionalAutoencoder, clean: Tensor, given: Tensor) -> dict[str, float]:
    """Mean over the test images ``(n, height, width)`` of each measure of the reconstructions of `given`."""
    parts: dict[str, list[Tensor]] = {"mse": [], "psnr": [], "ssim": [], "pixel_log_likelihood": []}
    for truth, shown in zip(torch.split(clean, CHUNK), torch.split(given, CHUNK), strict=True):
        signals.obey()
        logits = network.logits(shown).double()
        truth, made = truth.double(), logits.sigmoid()
        parts["mse"].append(squared_error(truth, made))
        parts["psnr"].append(psnr(truth, made))
        parts["ssim"].append(ssim(truth, made))
        parts["pixel_log_likelihood"].append(pixel_log_likelihood(truth, logits))
    return {name: float(torch.cat(values).mean()) for name, values in parts.items()}


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def _deviation(values: list[float]) -> float:
    """Standard deviation (n - 1) over the networks; NaN for one alone."""
    if len(values) < 2:
        return math.nan
    mean = _mean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
