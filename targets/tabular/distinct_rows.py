"""Rows of a table in which equal inputs are evaluated once, and the capability of targets that predict them.

The prediction is the same for equal inputs, so the mean squared error over all rows is a weighted mean over
distinct rows plus a constant, and a mean that is linear in the outcome a weighted mean. Half of the rows of
COMPAS are repeated.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

STRIDE = 16
"""Columns are padded to a multiple of this: matrix products with unaligned rows take a third longer."""


class DistinctRows(nn.Module):
    """N rows as M distinct ones, with the last repeated at most 15 times as padding.

    Rows with the same rare values are neighbours: they are sorted by the column that most often has one
    value, then by the next such column, and so on.

    Args:
        inputs: ``(N, features)``.
        outcome: ``(N,)``.

    Attributes:
        inputs: distinct rows as columns, with a 1 appended for the bias, ``(features + 1, M)``.
        outcome: mean outcome of each distinct row, ``(M,)``.
        share: fraction of the N rows that are equal to each distinct row, ``(M,)``, summing to one; 0 for
            padding.
        spread: mean squared deviation of the outcomes from the mean of their distinct row, a scalar: the
            difference between the mean squared errors over all rows and over distinct rows.
    """

    inputs: Tensor
    outcome: Tensor
    share: Tensor
    spread: Tensor

    def __init__(self, inputs: Tensor, outcome: Tensor) -> None:
        super().__init__()
        common = inputs.mode(0).values if len(inputs) else inputs[:0]
        rare = (inputs != common).sum(0).argsort(stable=True)
        rows, place, count = torch.unique(inputs[:, rare], dim=0, return_inverse=True, return_counts=True)
        rows = rows[:, rare.argsort()]
        total = torch.zeros(len(rows), dtype=outcome.dtype).index_add_(0, place, outcome)
        mean = total / count
        padded = torch.arange(-(-len(rows) // STRIDE) * STRIDE).clamp_(max=len(rows) - 1)
        columns = torch.cat([rows, rows.new_ones(len(rows), 1)], 1)[padded].T
        share = nn.functional.pad(count.to(outcome.dtype) / len(outcome), (0, len(padded) - len(rows)))
        self.register_buffer("inputs", columns.contiguous())
        self.register_buffer("outcome", mean[padded])
        self.register_buffer("share", share)
        self.register_buffer("spread", (outcome - mean[place]).square().mean())

    def __len__(self) -> int:
        return len(self.outcome)


@runtime_checkable
class Predictive(Protocol):
    """A target whose states are models that predict an outcome from 0 to 1, with rows to evaluate them on."""

    def rows(self, part: str) -> DistinctRows:
        """The rows of ``train``, ``validation`` or ``test``."""

    def logits(self, theta: Tensor, part: str) -> Tensor:
        """Predicted log odds of each state for the distinct rows of a part, ``(*batch, rows)``."""
