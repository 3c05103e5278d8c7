"""How images spread over the classes that a classifier finds in them (EDLP, Figure 14)."""

from __future__ import annotations

import torch
from torch import Tensor

SEEN = 0.01
"""Share from which on a class counts as present."""


def class_shares(classes: Tensor, number: int) -> Tensor:
    """Share of each of `number` classes among `classes` ``(n,)`` of whole numbers: ``(number,)``, float64."""
    return torch.bincount(classes, minlength=number).double() / len(classes)


def entropy(shares: Tensor) -> float:
    """Entropy of a law in nats; log(classes) where all are equally frequent."""
    return float(-torch.special.xlogy(shares, shares).sum())


def classes_seen(shares: Tensor) -> int:
    """How many classes have a share of at least 0.01."""
    return int((shares >= SEEN).sum())
