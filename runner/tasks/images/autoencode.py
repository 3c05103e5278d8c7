"""What `autoencode` computes: autoencoders fitted to a sampler's images, tested on others (EDLP Table 1)."""

from __future__ import annotations

import math
import time

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
from metrics.applications.released_reconstruction import mean_residual, occluded_at_random, uniform_ssim
from runner.execution import signals
from runner.problem.problems import Problems
from runner.store.run_files import RunResult
from runner.store.run_store import Store
from runner.tasks.images.autoencode_task import BINARY, NOISY, OCCLUDED, TestSettings, test_settings
from runner.tasks.images.autoencoders import Autoencoder, autoencoder_settings, autoencoders
from runner.tasks.images.image_task import data_of_target
from runner.tasks.images.sampled_images import images_of
from targets import Streams
from targets.datasets.dataset import Dataset

CHUNK = 500
"""Test images that are reconstructed at a time."""


def autoencoded(config: DictConfig, seed: int, store: Store, problems: Problems) -> RunResult:
    """The result of `runner.tasks.images.autoencode_task.Autoencode.run`."""
    data, _, _ = data_of_target(config)
    images = images_of(config, seed, store, problems)
    settings = autoencoder_settings(config, data, len(images.pixels))
    networks, fitting, notes = autoencoders(images, settings, seed, config)
    started = time.monotonic()
    like = next(networks[0].parameters())
    testing = test_settings(config, data)
    clean = shown_images(data, testing.test).to(device=like.device)
    given = degraded(clean.to(like.dtype), testing, seed)
    by_network = [reconstruction(network, clean, given) for network in networks]
    values = {name: _mean([one[name] for one in by_network]) for name in by_network[0]}
    spread = {f"{name}_sd": _deviation([one[name] for one in by_network]) for name in by_network[0]}
    made = {"sampling_seconds": float(images.report["seconds"]), "fitting_seconds": fitting}
    made["pixel_mean"] = float(images.pixels.double().mean())
    values = {**made, **values, **spread}
    return images.result(seed, values, seconds=fitting, started=started, notes=notes)


def shown_images(data: Dataset, test: str) -> Tensor:
    """The test images ``(n, height, width)`` from 0 to 1, binary or grey (`TestSettings.test`)."""
    if test == BINARY:
        return data.test.reshape(-1, *data.shape)
    assert data.grey_test is not None
    return data.grey_test.reshape(-1, *data.shape).double() / data.white


def degraded(clean: Tensor, settings: TestSettings, seed: int) -> Tensor:
    """What the networks are given: the same for all samplers and networks of a seed.

    Random numbers are drawn on the CPU, so that they are the same wherever the run is computed.
    """
    streams = Streams([seed], f"test images/{settings.input}", "cpu")
    there = clean.cpu()
    if settings.input == NOISY:
        there = noisy(there, settings.noise, streams)
    elif settings.input == OCCLUDED:
        side = settings.occlusion
        there = occluded_at_random(there, streams) if side is None else occluded(there, side, streams)
    return there.to(clean.device)


@torch.no_grad()
def reconstruction(network: Autoencoder, clean: Tensor, given: Tensor) -> dict[str, float]:
    """Mean over the test images ``(n, height, width)`` of each measure of the reconstructions of `given`."""
    parts: dict[str, list[Tensor]] = {}
    for truth, shown in zip(torch.split(clean, CHUNK), torch.split(given, CHUNK), strict=True):
        signals.obey()
        for name, values in _measures(network, truth.double(), shown).items():
            parts.setdefault(name, []).append(values)
    return {name: float(torch.cat(values).mean()) for name, values in parts.items()}


def _measures(network: Autoencoder, truth: Tensor, shown: Tensor) -> dict[str, Tensor]:
    """Each measure of the reconstructions of `shown`, a number per image."""
    if isinstance(network, ConvolutionalAutoencoder):
        logits = network.logits(shown).double()
        made, of_kind = logits.sigmoid(), {"pixel_log_likelihood": pixel_log_likelihood(truth, logits)}
    else:
        made, shown = network(shown).double(), shown.double()
        of_kind = {
            "mse_given": squared_error(shown, made),
            "psnr_given": psnr(shown, made),
            "ssim_given": uniform_ssim(shown, made),
            "mean_residual": mean_residual(shown, made),
        }
    measures = {"mse": squared_error(truth, made), "psnr": psnr(truth, made), "ssim": ssim(truth, made)}
    return measures | of_kind


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def _deviation(values: list[float]) -> float:
    """Standard deviation (n - 1) over the networks; NaN for one alone."""
    if len(values) < 2:
        return math.nan
    mean = _mean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
