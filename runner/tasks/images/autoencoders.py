"""Autoencoders fitted to a set of images: several that differ in their seed, saved beside the images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import torch
from omegaconf import DictConfig
from torch import Tensor

from metrics.applications.reconstruction import STRIDE, ConvolutionalAutoencoder
from metrics.applications.released_reconstruction import PoolingAutoencoder, as_saved
from runner.execution.devices import floating_point, present_device
from runner.execution.errors import UserError
from runner.integrity.source import mixture
from runner.store.short_hash import SCHEMA, short_hash
from runner.tasks.images.fit_settings import (
    AUTOENCODER,
    RELEASED,
    AutoencoderSettings,
    autoencoder_values,
)
from runner.tasks.images.fitting import Fit, fitted_network, network_from_seed
from runner.tasks.images.sampled_images import Images
from targets.datasets.dataset import Dataset
from targets.randomness import derive_seed

Autoencoder = ConvolutionalAutoencoder | PoolingAutoencoder
"""The network of the protocol ``described``, and the one of ``released``."""


def autoencoder_settings(config: DictConfig, data: Dataset, samples: int) -> AutoencoderSettings:
    """The checked settings at `task.autoencoder`.

    Raises:
        UserError: naming what is refused, also images of a size that the network cannot halve twice, and
            fewer of them than a batch.
    """
    settings = autoencoder_values(config)
    height, width = data.shape
    if height % STRIDE or width % STRIDE:
        raise UserError(
            f"task={config.task.name} needs images whose sides are multiples of {STRIDE} pixels, "
            f"those of {data.name} are {height} x {width}."
        )
    batch = settings.fit.batch
    if samples < batch:
        raise UserError(f"task.samples must be at least {AUTOENCODER}.batch={batch}, {samples} was given.")
    return settings


def autoencoders(
    images: Images, settings: AutoencoderSettings, seed: int, config: DictConfig
) -> tuple[list[Autoencoder], float, list[str]]:
    """The networks fitted to `images`, the seconds that their fits took together, and footnotes to them.

    Each minimises the mean squared error of the reconstruction. Weights and order of the images depend on
    the run's seed and the network's number alone, so that networks of the same number start alike on the
    images of every sampler.
    """
    device, dtype = torch.device(present_device(config.device)), floating_point(config.dtype)
    pixels = images.pixels.to(device)
    shape = (pixels.shape[1], pixels.shape[2])
    kind: dict[str, Any] = {} if settings.code is None else {"code": settings.code}  # others keep their names
    build: Callable[[], Autoencoder] = partial(ConvolutionalAutoencoder, settings.code, shape)
    if settings.protocol == RELEASED:
        pixels, kind = as_saved(pixels.to(dtype)), {"protocol": RELEASED}
        build = partial(PoolingAutoencoder, shape)

    def loss(network: Autoencoder, places: Tensor) -> Tensor:
        batch = pixels[places.to(device)].to(dtype)
        return torch.nn.functional.mse_loss(network(batch), batch)

    def begin(own: int) -> Fit[Autoencoder]:
        return Fit(network_from_seed(build, own, dtype, device), loss, len(pixels), settings.fit, own)

    found, seconds, notes = [], 0.0, dict[str, None]()
    for number in range(settings.networks):
        own = derive_seed(seed, f"autoencoder/{number}")
        content = {"schema": SCHEMA, **asdict(settings.fit), **kind, "seed": own}
        name = short_hash({**content, "device": device.type, "dtype": config.dtype})
        path = images.folder / f"autoencoder-{name}.safetensors"
        network, report = fitted_network(path, partial(begin, own), lambda _: {}, config)
        found.append(network.requires_grad_(False))
        seconds += float(report["seconds"])
        notes |= dict.fromkeys(mixture(report.get("sources") or []))
    return found, seconds, list(notes)
