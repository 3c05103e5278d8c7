"""Binary draws packed two to a row, so that Hamming distances to them cost half as much."""

from __future__ import annotations

import torch
from torch import Tensor

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
