"""The exponential average-Hamming kernel k(x, y) = exp(-H(x, y) / d) on binary states (settings B.3)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metrics.metric import by_seed
from metrics.two_sample.packed_draws import PackedDraws

ROWS, COLUMNS = 1024, 2048
"""Pairs are compared in blocks of at most this size, so that memory does not grow with the draws."""


class HammingKernel:
    """k on ``{0, 1}^d``, summed over pairs of draws via the histogram of their Hamming distances.

    Distances are matrix products of zeros and ones in float32, whose sums are integers and thus exact, and so
    are the counts. Therefore a sum does not depend on the order of the draws, the block size or the batch
    composition.

    Args:
        d: number of coordinates.
        device: device of the draws.
    """

    def __init__(self, d: int, device: torch.device | str = "cpu") -> None:
        self.d = d
        self.values = torch.exp(-torch.arange(d + 1, dtype=torch.float64) / d).to(device)
        self._one = torch.ones(1, dtype=torch.int64, device=device)

    def total(self, a: Tensor, b: Tensor | PackedDraws) -> Tensor:
        """Sum of k over all pairs of a draw in `a` and a draw in `b`, float64, ``(*batch)``.

        Args:
            a: draws ``(*batch, m, d)`` of any dtype.
            b: draws ``(n, d)`` that the whole batch shares, or ``(*batch, n, d)``, or `PackedDraws`, which
                are compared in one block and take half the time.
        """
        batch = a.shape[:-2]
        groups = math.prod(batch)
        a = a.reshape(groups, *a.shape[-2:])
        if isinstance(b, Tensor) and b.dim() > 2:
            b = b.reshape(groups, *b.shape[-2:])
        counts = torch.zeros((groups, self.d + 1), dtype=torch.int64, device=a.device)
        for rows in torch.split(a, max(1, ROWS // groups), dim=1):
            for columns in (b,) if isinstance(b, PackedDraws) else torch.split(b, COLUMNS, dim=-2):
                cells = hamming(rows, columns).flatten(1).long()
                counts.scatter_add_(1, cells, self._one.expand(cells.shape))
        return by_seed(torch.sum, counts * self.values).reshape(batch)

    def matrix(self, a: Tensor, b: Tensor) -> Tensor:
        """k between all pairs, ``(m, n)``, float64; stores the whole matrix."""
        return self.values[hamming(a, b).long()]


def hamming(a: Tensor, b: Tensor | PackedDraws) -> Tensor:
    """Number of coordinates in which states `a` ``(*batch, m, d)`` and `b` ``(.., n, d)`` differ.

    Shape ``(*batch, m, n)``, float32, exact for d below 2 ** 23.
    """
    if isinstance(b, PackedDraws):
        return b.hamming(a)
    a, b = a.float(), b.float()
    return a.sum(-1).unsqueeze(-1) + b.sum(-1).unsqueeze(-2) - 2.0 * (a @ b.mT)
