"""Independent bits, and MMD between two samples of them by its definition."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def bits(mean: Tensor, *shape: int, seed: int = 0) -> Tensor:
    """Independent bits ``(*shape, d)``."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(*shape, len(mean), generator=generator, dtype=torch.float64) < mean).double()


def double_loops(x: Tensor, y: Tensor) -> tuple[float, float]:
    """V- and U-statistic under exp(-H / d) by their definitions, one pair at a time."""

    def k(a: list[float], b: list[float]) -> float:
        return math.exp(-sum(u != v for u, v in zip(a, b, strict=True)) / len(a))

    def mean(a: Tensor, b: Tensor, without_own: bool) -> float:
        values = [
            k(u, v)
            for i, u in enumerate(a.tolist())
            for j, v in enumerate(b.tolist())
            if not (without_own and i == j)
        ]
        return sum(values) / len(values)

    v, u = (mean(x, x, own) + mean(y, y, own) - 2 * mean(x, y, False) for own in (False, True))
    return v, u
