"""The distribution of images over the classes that a classifier assigns (EDLP, Figure 14)."""

from __future__ import annotations

import torch
from torch import Tensor

SEEN = 0.01
"""Minimum share of a class that counts as present."""


def class_shares(classes: Tensor, number: int) -> Tensor:
    """Share of each of `number` classes among labels `classes`: int64 ``(n,)`` to float64 ``(number,)``."""
    return torch.bincount(classes, minlength=number).double() / len(classes)


def class_entropy(shares: Tensor) -> float:
    """Entropy of the shares in nats; log(classes) if all are equally frequent."""
    return float(-torch.special.xlogy(shares, shares).sum())


def classes_seen(shares: Tensor) -> int:
    """Number of classes with a share of at least 0.01."""
    return int((shares >= SEEN).sum())
