"""Rows of a table of which equal ones are evaluated once, with the mean outcome that they have.

A prediction is the same for equal inputs, so a sum over rows of what is linear in the outcome, or quadratic
with one coefficient, is a weighted sum over distinct rows and a constant. Half of COMPAS are repetitions.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class DistinctRows(nn.Module):
    """N rows as M distinct ones.

    Args:
        inputs: ``(N, features)``.
        outcome: ``(N,)``.

    Attributes:
        inputs: distinct rows as columns, a 1 below each for the biases, ``(features + 1, M)``.
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
        self.register_buffer("inputs", torch.cat([rows, rows.new_ones(len(rows), 1)], 1).T.contiguous())
        self.register_buffer("outcome", mean)
        self.register_buffer("share", count.to(outcome.dtype) / len(outcome))
        self.register_buffer("spread", (outcome - mean[place]).square().mean())

    def __len__(self) -> int:
        return len(self.outcome)
