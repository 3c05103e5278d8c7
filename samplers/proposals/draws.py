"""Draws from finitely many possibilities: levels, places in a list, whole numbers."""

from __future__ import annotations

import torch
from torch import Tensor

from targets.randomness import Generator, uniform


def draw_level(weights: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
    """Levels ``(*batch, d)`` drawn in proportion to `weights` ``(*batch, d, levels)``, and the weights' sums.

    Inverse of the cumulative sum, so one uniform number a coordinate. A draw never lands on weight zero.
    """
    cumulative = weights.cumsum(-1)
    total = cumulative[..., -1:]
    draws = uniform(generator, weights.shape[:-2], weights.shape[-2:-1], like=weights)
    return _drawn(cumulative, total, draws.unsqueeze(-1)).squeeze(-1), total.squeeze(-1)


def draw_place(weights: Tensor, generator: Generator, number: int = 1) -> Tensor:
    """Places ``(*batch, number)`` drawn independently in proportion to `weights` ``(*batch, n)``.

    Weights that are NaN do not lead past the last place; the caller's log density keeps their NaN.
    """
    cumulative = weights.cumsum(-1)
    draws = uniform(generator, weights.shape[:-1], (number,), like=weights)
    return _drawn(cumulative, cumulative[..., -1:], draws).clamp_(max=weights.shape[-1] - 1)


def _drawn(cumulative: Tensor, total: Tensor, draws: Tensor) -> Tensor:
    """Where `draws` of [0, 1), as shares of `total`, lie in `cumulative` weights."""
    # Rounding can put the point at the total itself, past the last level that has weight.
    point = torch.minimum(draws * total, torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(cumulative, point.contiguous(), right=True)


def whole_numbers(draws: Tensor, count: int) -> Tensor:
    """Whole numbers ``0 .. count - 1`` (int64) from uniform numbers on [0, 1)."""
    return (draws * count).long().clamp_(max=count - 1)
