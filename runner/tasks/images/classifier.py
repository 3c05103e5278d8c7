"""The LeNet-5 that says what class an image is of: fitted once to the labelled training images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from omegaconf import DictConfig
from torch import Tensor

from metrics.applications.image_classes import LeNet5
from runner.config.construct import with_key
from runner.config.datasets import dataset_identity
from runner.config.node import node
from runner.execution.devices import device_type, floating_point
from runner.execution.errors import UserError, one_sentence
from runner.store.digest import SCHEMA, digest
from runner.store.run_store import Store
from runner.tasks.images.fitted_network import fitted_network
from runner.tasks.images.fitting import Fit, FitSettings, built
from runner.tasks.images.labels import Labels
from targets.datasets.dataset import Dataset

KEY = "task.classifier"
SEED = 0
"""Of the classifier: it belongs to the data, whatever the seeds of the runs whose images it sorts."""
CHUNK = 1000
"""Images that are sorted at a time."""


@dataclass(frozen=True)
class Classifier:
    """A fitted LeNet-5.

    Attributes:
        network: takes images ``(n, height, width)``.
        accuracy: share of the test images that it sorts rightly.
        seconds: what its fit took.
    """

    network: LeNet5
    accuracy: float
    seconds: float

    def probabilities(self, images: Tensor) -> Tensor:
        """Probability of each class, ``(n, classes)``, for images ``(n, height, width)``."""
        return probabilities(self.network, images)


def classifier_settings(config: DictConfig) -> FitSettings:
    """The checked settings at `task.classifier`.

    Raises:
        UserError: naming what is refused.
    """
    given = node(config, "task").get("classifier")
    if not isinstance(given, dict):
        raise UserError(f"{KEY} must be a group of keys, {given!r} was given.")
    try:
        return FitSettings(**given)
    except (ValueError, TypeError) as error:
        raise UserError(with_key(one_sentence(error), given, KEY)) from error


def classifier(
    data: Dataset, labels: Labels, name: str, binarisation: str | None, config: DictConfig, store: Store
) -> Classifier:
    """The classifier of a data set, as its images are binarised. The first process that asks fits it."""
    settings = classifier_settings(config)
    device, dtype = torch.device(device_type(config.device)), floating_point(config.dtype)
    pixels, wanted = data.train.reshape(-1, *data.shape).to(device), labels.train.to(device)

    def loss(network: LeNet5, places: Tensor) -> Tensor:
        places = places.to(device)
        return torch.nn.functional.cross_entropy(network(pixels[places].to(dtype)), wanted[places])

    def begin() -> Fit[LeNet5]:
        network = built(lambda: LeNet5(len(labels.names)), SEED, dtype, device)
        return Fit(network, loss, len(pixels), settings, SEED)

    def tested(network: LeNet5) -> Mapping[str, Any]:
        found = probabilities(network, data.test.reshape(-1, *data.shape)).argmax(-1)
        return {"accuracy": float((found == labels.test).double().mean())}

    content = {
        "schema": SCHEMA,
        "architecture": "lenet5",
        "data": dataset_identity(name, binarisation),
        "images": data.fingerprint(),
        "settings": asdict(settings),
        "seed": SEED,
        "device": device.type,
        "dtype": config.dtype,
    }
    path = store.root / "classifiers" / f"{digest(content)}.safetensors"
    network, report = fitted_network(path, begin, tested, config)
    return Classifier(network.requires_grad_(False), float(report["accuracy"]), float(report["seconds"]))


@torch.no_grad()
def probabilities(network: LeNet5, images: Tensor) -> Tensor:
    """Probability of each class, ``(n, classes)``, float64 on the CPU."""
    like = next(network.parameters())
    parts = [network(part.to(like)).softmax(-1).double().cpu() for part in torch.split(images, CHUNK)]
    return torch.cat(parts)
