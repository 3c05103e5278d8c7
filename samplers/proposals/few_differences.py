"""Functions of the change of U by one flip, computed for each value that it takes where those are few."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self, runtime_checkable

import torch
from torch import Tensor

from targets.spaces import Binary
from targets.target import FewDifferences, Target

MOST = 12
"""Values above which nothing is gained: one comparison each takes as long as an exponential then."""


class DifferenceTable:
    """The values that a change of U takes, and what a function of it gives, found by comparisons alone.

    It is meant for compiled steps, where comparisons with constants cost less than an exponential.

    Args:
        values: all of them, ascending, ``(m,)``.
    """

    def __init__(self, values: Tensor) -> None:
        self.values, self._middles = values, (values[1:] + values[:-1]) / 2.0

    def to(self, like: Tensor) -> DifferenceTable:
        """A copy with the dtype and device of `like`."""
        return DifferenceTable(self.values.to(like))

    def of(self, function: Callable[[Tensor], Tensor], differences: Tensor) -> Tensor:
        """`function` of all `differences`, ``(*batch, d)``.

        Args:
            function: from `values` to what it gives for each, ``(m,)``, or ``(*axes, m)`` where it depends on
                the chain; `axes` broadcast with `batch`.
            differences: each of them one of `values`, up to rounding.
        """
        first, *others = function(self.values).unsqueeze(-2).unbind(-1)
        found = first
        for middle, value in zip(self._middles.unbind(), others, strict=True):
            found = torch.where(differences > middle, value, found)
        return found.expand_as(differences)


@runtime_checkable
class OfDifferences(Protocol):
    """A proposal that can take its functions of the changes of U from a `DifferenceTable`."""

    def with_table(self, table: DifferenceTable) -> Self:
        """A copy that does, in compiled steps; the proposal itself where it cannot."""
        ...


def difference_table(target: Target) -> DifferenceTable | None:
    """The table of `target`; None where its changes of U by one flip are many, or are not known."""
    if not isinstance(target.space, Binary) or not isinstance(target, FewDifferences):
        return None
    values = target.flip_differences()
    return None if values is None or len(values) > MOST else DifferenceTable(values)
