"""The task `classify`: what classes a LeNet-5 finds in a sampler's images (EDLP, Figure 14)."""

from __future__ import annotations

import time

import torch
from omegaconf import DictConfig

from metrics.class_histogram import class_shares, classes_seen, entropy
from metrics.transition_matrix import total_variation
from runner.atomic import write_bytes
from runner.draws import FILE, MOST, packed
from runner.generated.classifier import classifier, classifier_settings
from runner.generated.images import images_of
from runner.generated.labels import labels_of
from runner.generated.settings import data_of_target
from runner.results import Measured
from runner.store import RunFolder, Store


def check_classifying(config: DictConfig) -> None:
    """Tries all settings of the task, and that the images have labels.

    Raises:
        UserError: naming what is refused.
    """
    data, name, _ = data_of_target(config)
    classifier_settings(config)
    labels_of(data, name, config.data.root)


def classify(config: DictConfig, seed: int, store: Store, folder: RunFolder) -> Measured:
    """Makes the images and sorts them; images and classifier that are kept already are read.

    ``class_K`` is the share of the images that are sorted into class K, ``real_K`` that of the training
    images by their labels, ``class_tv`` their distance in total variation.

    Raises:
        UserError: if the data set or the model cannot be had, or there are no labels.
        RunError: if the chains or the fit meet NaN.
    """
    begun = time.monotonic()
    data, name, binarisation = data_of_target(config)
    labels = labels_of(data, name, config.data.root)
    images = images_of(config, seed, store)
    network = classifier(data, labels, name, binarisation, config, store)
    found = network.probabilities(images.pixels)
    number = len(labels.names)
    shares, real = class_shares(found.argmax(-1), number), class_shares(labels.train, number)
    values = {
        "class_tv": total_variation(shares, real),
        "class_entropy": entropy(shares),
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
    write_bytes(folder.path / FILE, packed(images.pixels[::step][:MOST].numpy()))
    return images.measured(seed, values, seconds=0.0, begun=begun)
