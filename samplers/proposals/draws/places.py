"""Draws from finitely many possibilities: levels, places in a list, whole numbers."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from targets.compiling.tracing import is_traced
from targets.randomness import Generator, uniform

SHORTEST_ROW = 8
"""Places that a compiled draw leaves to its second part, or more; with fewer it would be no faster."""


def draw_level(weights: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
    """Levels ``(*batch, d)`` drawn in proportion to `weights` ``(*batch, d, levels)``, and the weights' sums.

    Inverse of the cumulative sum, so one uniform number a coordinate. A draw never lands on weight zero, and
    weights that are NaN do not lead past the last level.
    """
    cumulative = weights.cumsum(-1)
    total = cumulative[..., -1:]
    draws = uniform(generator, weights.shape[:-2], weights.shape[-2:-1], like=weights)
    level = _drawn(cumulative, total, draws.unsqueeze(-1)).squeeze(-1)
    return level.clamp_(max=weights.shape[-1] - 1), total.squeeze(-1)


def draw_place(weights: Tensor, generator: Generator, number: int = 1) -> Tensor:
    """Places ``(*batch, number)`` drawn independently in proportion to `weights` ``(*batch, n)``.

    Weights that are NaN do not lead past the last place; the caller's log density keeps their NaN.
    """
    draws = uniform(generator, weights.shape[:-1], (number,), like=weights)
    if is_traced() and (width := _row_width(weights.shape[-1])) > 1:
        return _drawn_by_rows(weights.reshape(*weights.shape[:-1], -1, width), draws)
    cumulative = weights.cumsum(-1)
    return _drawn(cumulative, cumulative[..., -1:], draws).clamp_(max=weights.shape[-1] - 1)


def _drawn_by_rows(weights: Tensor, draws: Tensor) -> Tensor:
    """Places as `draw_place` draws them, of weights ``(*batch, rows, width)``: a row first, then one in it.

    For a compiler, to which sums are cheap and long cumulative sums are not.
    """
    rows, width = weights.shape[-2:]
    cumulative = weights.sum(-1).cumsum(-1)
    point = draws * cumulative[..., -1:]
    row = _drawn(cumulative, cumulative[..., -1:], draws).clamp_(max=rows - 1)
    before = torch.where(row > 0, cumulative.gather(-1, (row - 1).clamp_(min=0)), 0.0)
    own = weights.gather(-2, row.unsqueeze(-1).expand(*row.shape, width)).cumsum(-1)
    total = own[..., -1]
    left = torch.minimum((point - before).clamp_(min=0.0), torch.nextafter(total, torch.zeros_like(total)))
    place = (own <= left.unsqueeze(-1)).sum(-1).clamp_(max=width - 1)
    return row * width + place


def _row_width(number: int) -> int:
    """The largest divisor of `number` that is at most its square root; 1 where rows would not pay."""
    widths = [width for width in range(1, math.isqrt(number) + 1) if number % width == 0]
    return widths[-1] if widths[-1] >= SHORTEST_ROW else 1


def _drawn(cumulative: Tensor, total: Tensor, draws: Tensor) -> Tensor:
    """Where `draws` of [0, 1), as shares of `total`, lie in `cumulative` weights."""
    # Rounding can put the point at the total itself, past the last level that has weight.
    point = torch.minimum(draws * total, torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(cumulative, point.contiguous(), right=True)


def whole_numbers(draws: Tensor, count: int) -> Tensor:
    """Whole numbers ``0 .. count - 1`` (int64) from uniform numbers on [0, 1)."""
    return (draws * count).long().clamp_(max=count - 1)
