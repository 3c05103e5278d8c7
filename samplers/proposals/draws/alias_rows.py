"""Draws from the rows of a table by Walker's alias method: one entry a draw, wherever the row lies.

Every row is laid out as columns of equal width, each of one or two indices. A draw picks a column and a place
in it, so that it reads a single entry, where a search reads several in two cache lines. On a table of 41 MB
and in a compiled step that takes less than half of the time. Making the columns takes longer than sorted
rows, however, in which plain steps therefore search.
"""

from __future__ import annotations

import torch
from torch import Tensor

from targets.compiling.tracing import stored

TOGETHER = 2**19
"""Entries whose columns are made at once, so that the intermediate values stay in the cache."""


class AliasRows:
    """Distributions on ``0 .. length - 1``, one for each row.

    Args:
        sums: cumulative probabilities, ``(rows, length)``; the last of each row is 1.

    Attributes:
        columns: for each index in turn the other index of its column plus the share of the column, below 1,
            that is its own, ``(rows * length,)``; the distributions are those of `sums` up to rounding to
            its dtype.

    Source: Walker (1977); columns by sweeping, as in Huebschle-Schneider and Sanders (2019).
    """

    def __init__(self, sums: Tensor) -> None:
        self.length = sums.shape[-1]
        parts = torch.split(sums, max(1, TOGETHER // self.length))
        self.columns = torch.cat([_columns(part).flatten() for part in parts])

    def drawn(self, row: Tensor, point: Tensor) -> Tensor:
        """An index from each `row` ``(n,)``, int64 ``(n,)``, by a `point` ``(n,)`` uniform on [0, 1)."""
        place = point * self.length
        own = place.floor()  # below length: the largest number below 1 times it rounds down
        column = self.columns.index_select(0, row * self.length + own.long())
        other = column.floor()
        return stored(torch.where(place - own < column - other, own, other).long())


def _columns(sums: Tensor) -> Tensor:
    """The columns of a few rows of cumulative probabilities, ``(rows, length)``."""
    excess = sums.double().diff(dim=-1, prepend=sums.new_zeros((len(sums), 1), dtype=torch.float64))
    excess.mul_(sums.shape[-1]).sub_(1.0)
    light = excess < 0
    lights = light.sum(-1, keepdim=True)
    # Light indices first, in their order, then heavy ones.
    place = torch.where(light, light.cumsum(-1), lights + (~light).cumsum(-1)) - 1
    index = torch.arange(sums.shape[-1], device=sums.device).expand(sums.shape)
    order = torch.empty_like(place).scatter_(-1, place, index)
    excess = torch.empty_like(excess).scatter_(-1, place, excess)
    light, last = index < lights, sums.shape[-1] - 1
    missing = excess.clamp(max=0.0).neg_().cumsum(-1)  # of the light ones up to here
    spare = excess.clamp(min=0.0).cumsum(-1)  # of the heavy ones up to here
    # A light index is filled up by the first heavy one that the earlier ones have not used up ...
    before = torch.where(light, missing + excess, torch.inf)
    filled_by = torch.searchsorted(spare, before, right=True).maximum(lights).clamp_(max=last)
    # ... and what a heavy one lacks then comes from the next heavy one.
    served = torch.searchsorted(before, spare)
    left = spare - missing.gather(-1, (served - 1).clamp_(min=0)).where(served > 0, 0.0)
    whole = ~light & ((left >= 0.0) | (index == last))
    other = torch.where(light, filled_by, index + 1).where(~whole, index)
    share = (1.0 + torch.where(light, excess, left)).clamp_(0.0, 1.0).where(~whole, 0.5)
    other = order.gather(-1, other.clamp_(max=last))
    below = (other + 1).to(sums.dtype).nextafter(sums.new_zeros(()))
    columns = (other + share).to(sums.dtype).minimum(below)
    return torch.empty_like(columns).scatter_(-1, order, columns)
