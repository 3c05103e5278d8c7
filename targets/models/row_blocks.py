"""Blocks of a table's rows, each without the columns that are constant in it.

Most columns of a wide table have one value in most rows: categories, counts of rare words. `DistinctRows`
puts rows with the same rare values next to each other, so that a block of a thousand rows of Blog has 119
columns of 277 that vary. A constant column adds one number to a hidden unit, and needs no matrix product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor


class RowBlock(NamedTuple):
    """Some rows of a table, as columns.

    Attributes:
        at: their places in the table.
        inputs: the columns of the table that are kept, the last of them the bias, ``(kept, rows)``.
        kept: places of these in the table ``(kept,)``, or None if no column is left out.
        constant: value of each column that is left out, 0 for those kept, ``(features + 1,)``.
    """

    at: slice
    inputs: Tensor
    kept: Tensor | None
    constant: Tensor

    def weights_kept(self, weights: Tensor) -> Tensor:
        """Weights of the columns kept ``(units, kept)``, of those of all columns ``(units, features + 1)``.

        The bias includes what the constant columns add.
        """
        if self.kept is None:
            return weights
        found = weights.index_select(1, self.kept)
        found[:, -1] += weights @ self.constant
        return found

    def add_to(self, total: Tensor, products: Tensor) -> None:
        """Adds the products of all columns with the slopes to `total` ``(features + 1, units)``.

        Args:
            total: the sum so far.
            products: those of the columns kept, ``(kept, units)``; the bias's are sums of slopes.
        """
        if self.kept is None:
            total += products
        else:
            total.index_add_(0, self.kept, products).addr_(self.constant, products[-1])


def row_blocks(inputs: Tensor, slices: list[slice], *, whole: bool) -> list[RowBlock]:
    """The rows `slices` of `inputs` ``(features + 1, rows)``, of which the last column is the bias.

    No column is left out if they are to be `whole`, or on a GPU, where the host would have to wait for the
    number of those kept.
    """
    if whole or inputs.device.type != "cpu":
        nothing = inputs.new_zeros(len(inputs))
        return [RowBlock(at, inputs[:, at], None, nothing) for at in slices]
    return [_without_constants(inputs[:, at], at) for at in slices]


def _without_constants(inputs: Tensor, at: slice) -> RowBlock:
    varies = inputs.amax(1) != inputs.amin(1)
    varies[-1] = True
    # By NumPy: the numbers are on the host, and tests refuse torch's nonzero, which on a GPU waits for it.
    kept, constant = torch.from_numpy(np.flatnonzero(varies.numpy())), inputs[:, 0].masked_fill(varies, 0.0)
    if len(kept) == len(inputs):
        return RowBlock(at, inputs, None, constant)
    return RowBlock(at, inputs.index_select(0, kept), kept, constant)
