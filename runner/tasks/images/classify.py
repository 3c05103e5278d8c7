"""What the task `classify` computes: what classes a LeNet-5 finds in a sampler's images (EDLP, Figure 14)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from omegaconf import DictConfig
from torch import Tensor

from metrics.applications.image_classes import LeNet5, class_entropy, class_shares, classes_seen
from metrics.enumeration.transition_matrix import total_variation
from runner.config.data.datasets import dataset_identity
from runner.config.data.known_files import verifies
from runner.execution.devices import floating_point, present_device
from runner.integrity.source import mixture
from runner.problem.problems import Problems
from runner.store.arrays.array_files import DRAWS, MOST, images_file
from runner.store.run_files import RunResult
from runner.store.run_store import Store
from runner.store.short_hash import SCHEMA, short_hash
from runner.tasks.images.fit_settings import classifier_settings
from runner.tasks.images.fitting import Fit, fitted_network, network_from_seed
from runner.tasks.images.image_task import data_of_target
from runner.tasks.images.labels import Labels, labels_of, unknown_labels
from runner.tasks.images.sampled_images import images_of
from targets.datasets.dataset import Dataset

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
        notes: footnotes to numbers that are measured with it.
    """

    network: LeNet5
    accuracy: float
    seconds: float
    notes: Sequence[str] = ()

    def probabilities(self, images: Tensor) -> Tensor:
        """Probability of each class, ``(n, classes)``, for images ``(n, height, width)``."""
        return probabilities(self.network, images)


def classifier(
    data: Dataset, labels: Labels, name: str, binarisation: str | None, config: DictConfig, store: Store
) -> Classifier:
    """The classifier of a data set, as its images are binarised. The first process that asks fits it."""
    settings = classifier_settings(config)
    device, dtype = torch.device(present_device(config.device)), floating_point(config.dtype)
    pixels, wanted = data.train.reshape(-1, *data.shape).to(device), labels.train.to(device)

    def loss(network: LeNet5, places: Tensor) -> Tensor:
        places = places.to(device)
        return torch.nn.functional.cross_entropy(network(pixels[places].to(dtype)), wanted[places])

    def begin() -> Fit[LeNet5]:
        network = network_from_seed(lambda: LeNet5(len(labels.names)), SEED, dtype, device)
        return Fit(network, loss, len(pixels), settings, SEED)

    def tested(network: LeNet5) -> Mapping[str, Any]:
        found = probabilities(network, data.test.reshape(-1, *data.shape)).argmax(-1)
        return {"accuracy": float((found == labels.test).double().mean())}

    content = {
        "schema": SCHEMA,
        "architecture": "lenet5",
        "data": dataset_identity(name, binarisation),
        "images": data.fingerprint(),
        **unknown_labels(config, name),
        "settings": asdict(settings),
        "seed": SEED,
        "device": device.type,
        "dtype": config.dtype,
    }
    path = store.root / "classifiers" / f"{short_hash(content)}.safetensors"
    network, report = fitted_network(path, begin, tested, config)
    notes = mixture(report.get("sources") or [])
    return Classifier(
        network.requires_grad_(False), float(report["accuracy"]), float(report["seconds"]), notes
    )


@torch.no_grad()
def probabilities(network: LeNet5, images: Tensor) -> Tensor:
    """Probability of each class, ``(n, classes)``, float64 on the CPU."""
    like = next(network.parameters())
    parts = [network(part.to(like)).softmax(-1).double().cpu() for part in torch.split(images, CHUNK)]
    return torch.cat(parts)


def classified(config: DictConfig, seed: int, store: Store, problems: Problems) -> RunResult:
    """The result of `runner.tasks.images.classify_task.Classify.run`."""
    data, name, binarisation = data_of_target(config)
    labels = labels_of(data, name, config.data.root, verifies(config))
    images = images_of(config, seed, store, problems)
    network = classifier(data, labels, name, binarisation, config, store)
    started = time.monotonic()
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
    shown = images_file(images.pixels[::step][:MOST].numpy())
    result = images.result(seed, values, seconds=0.0, started=started, notes=network.notes)
    return replace(result, files={DRAWS: shown})
