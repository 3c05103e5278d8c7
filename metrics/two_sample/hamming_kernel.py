"""The exponential average-Hamming kernel k(x, y) = exp(-H(x, y) / d) on binary states (settings B.3)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metrics.metric import by_seed

ROWS, COLUMNS = 1024, 2048
"""Pairs are compared in blocks of at most this size, so that memory does not grow with the draws."""

EXACT = 2**24
"""float32 represents every integer up to here."""


class PackedDraws:
    """Draws ``(n, d)`` of zeros and ones, stored as sums y + B y' of a draw of each half.

    B is a power of two above d. The inner product of a state with such a row is an integer: its remainder
    modulo B counts the ones in common with y, its quotient those in common with y'. This is exact in float32
    for d up to 4095; draws of higher dimension are stored one to a row.

    Args:
        draws: zeros and ones of any dtype.
    """

    def __init__(self, draws: Tensor) -> None:
        draws = draws.float()
        self.n, d = draws.shape
        self.ones = draws.sum(-1)
        self.base = 2 ** d.bit_length()
        self.half = (self.n + 1) // 2 if d * (self.base + 1) < EXACT else self.n
        self.rows = draws[: self.half].clone()
        self.rows[: self.n - self.half] += self.base * draws[self.half :]

    def hamming(self, a: Tensor) -> Tensor:
        """Number of coordinates in which `a` ``(*batch, m, d)`` and the draws differ: ``(*batch, m, n)``."""
        a = a.float()
        common = a @ self.rows.T
        if self.half < self.n:
            second = (common / self.base).floor_()
            first = common.sub_(second, alpha=self.base)
            common = torch.cat([first, second[..., : self.n - self.half]], dim=-1)
        return common.mul_(-2.0).add_(self.ones).add_(a.sum(-1, keepdim=True))


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
