"""The classes of images (EDLP, Figure 14): the LeNet-5 that assigns them, and their distribution."""

from __future__ import annotations

import torch
from torch import Tensor, nn

SIDE = 28
SEEN = 0.01
"""Minimum share of a class that counts as present."""


class LeNet5(nn.Module):
    """Convolutions of 6 and 16 channels, 5 x 5, each with ReLU and 2 x 2 max pooling; layers of 120 and 84.

    ReLU and max pooling replace the sigmoids and average pooling of LeCun et al. (1998), as usual today.
    Images of other sizes are resized to 28 x 28 pixels by nearest-neighbour interpolation.

    Args:
        classes: number of classes.
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
        )
        self.classifier = nn.Sequential(
            nn.Linear(16 * 5 * 5, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, classes)
        )

    def forward(self, images: Tensor) -> Tensor:
        """Logits of the classes of `images` ``(n, height, width)``: ``(n, classes)``."""
        images = images.unsqueeze(1)
        if images.shape[-2:] != (SIDE, SIDE):
            images = nn.functional.interpolate(images, size=(SIDE, SIDE), mode="nearest")
        found: Tensor = self.classifier(self.features(images))
        return found


def class_shares(classes: Tensor, number: int) -> Tensor:
    """Share of each of `number` classes among labels `classes`: int64 ``(n,)`` to float64 ``(number,)``."""
    return torch.bincount(classes, minlength=number).double() / len(classes)


def class_entropy(shares: Tensor) -> float:
    """Entropy of the shares in nats; log(classes) if all are equally frequent."""
    return float(-torch.special.xlogy(shares, shares).sum())


def classes_seen(shares: Tensor) -> int:
    """Number of classes with a share of at least 0.01."""
    return int((shares >= SEEN).sum())
