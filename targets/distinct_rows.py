"""Rows of a table of which equal ones are evaluated once, with the mean outcome that they have.

A prediction is the same for equal inputs, so a sum over rows of what is linear in the outcome, or quadratic
with one coefficient, is a weighted sum over distinct rows and a constant. Half of COMPAS are repetitions.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

STRIDE = 16
"""Rows are filled up to a multiple of this: a product that reads rows out of line takes a third longer."""


class DistinctRows(nn.Module):
    """N rows as M distinct ones, filled up with up to 15 rows that stand for none.

    Args:
        inputs: ``(N, features)``.
        outcome: ``(N,)``.

    Attributes:
        inputs: distinct rows as columns, a 1 below each for the biases, ``(features + 1, M)``; zeros where a
            column stands for no row.
        outcome: mean outcome of each, ``(M,)``.
        share: part of the N rows that each stands for, ``(M,)``, summing to one.
        spread: mean squared distance of the outcomes from the mean of their distinct row, a scalar: what the
            mean squared error of the N rows has above that of the distinct ones.
    """

    inputs: Tensor
    outcome: Tensor
    share: Tensor
    spread: Tensor

    def __init__(self, inputs: Tensor, outcome: Tensor) -> None:
        super().__init__()
        rows, place, count = torch.unique(inputs, dim=0, return_inverse=True, return_counts=True)
        total = torch.zeros(len(rows), dtype=outcome.dtype).index_add_(0, place, outcome)
        mean = total / count
        columns = torch.cat([rows, rows.new_ones(len(rows), 1)], 1).T
        self.register_buffer("inputs", _filled(columns).contiguous())
        self.register_buffer("outcome", _filled(mean))
        self.register_buffer("share", _filled(count.to(outcome.dtype) / len(outcome)))
        self.register_buffer("spread", (outcome - mean[place]).square().mean())

    def __len__(self) -> int:
        return len(self.outcome)


def _filled(columns: Tensor) -> Tensor:
    """The columns, and zeros up to a multiple of `STRIDE`."""
    return nn.functional.pad(columns, (0, -columns.shape[-1] % STRIDE))
