"""The exact log Z of the Ising model with one coupling J > 0 and no field on a periodic square lattice."""

from __future__ import annotations

import math

import torch
from torch import Tensor

WEAK = 1e-5
"""|J| below which log Z is that of its first term in J: to 1e-9 of what J adds, to 1e-5 on sides of three."""


def kaufman_log_partition(coupling: Tensor, sides: tuple[int, int]) -> Tensor:
    """log Z of a periodic lattice of any size, a scalar, float64; differentiable in J.

    Z = (2 sinh 2J)^(nm/2) / 2 times the sum of four products over r = 0 .. n-1, of 2 cosh and of 2 sinh of
    m g_k / 2 with k = 2r + 1 and with k = 2r, where cosh g_k = cosh 2J coth 2J - cos(pi k / n) and
    g_0 = 2J + ln tanh J, which is negative above the transition's temperature.

    Source: Kaufman (1949); Ferdinand and Fisher (1969), Eqs. 2.1 to 2.5.

    Args:
        coupling: J, a scalar of at least 0, float64.
        sides: n and m.
    """
    n, m = sides
    # At J = 0 the formula is 0 times infinity, and near it its derivatives are lost to rounding.
    weak, given = coupling.abs() < WEAK, coupling
    coupling = torch.where(weak, WEAK, coupling)
    twice = 2.0 * coupling
    # Strong couplings overflow in cosh 2J and in its square, the derivative's: all is in logarithms.
    log_sinh = twice + (-torch.expm1(-2.0 * twice)).log() - math.log(2.0)
    log_cosh = twice + (-2.0 * twice).exp().log1p() - math.log(2.0)
    log_first = 2.0 * log_cosh - log_sinh
    level = torch.arange(1, 2 * n, dtype=torch.float64, device=coupling.device)
    log_cosines = log_first + (-torch.cos(math.pi / n * level) * (-log_first).exp()).log1p()
    angles = 0.5 * m * (log_cosines + (-torch.expm1(-2.0 * log_cosines)).sqrt().log1p())
    first = 0.5 * m * (twice + coupling.tanh().log())
    # log 2 cosh x and log 2 sinh x for x > 0; the factor of g_0 has either sign and stays apart.
    cosh, sinh = angles + (-2.0 * angles).exp().log1p(), angles + (-(-2.0 * angles).exp()).log1p()
    odd_cosh, odd_sinh = cosh[0::2].sum(), sinh[0::2].sum()
    even_cosh, even_sinh = cosh[1::2].sum(), sinh[1::2].sum()
    # 2 cosh and 2 sinh of g_0's term over exp(its size), which alone overflows on large lattices.
    sign = torch.where(first < 0.0, -1.0, 1.0)
    size, left = sign * first, (-2.0 * sign * first).exp()
    even = (1.0 + left) + sign * (1.0 - left) * (even_sinh - even_cosh).exp()
    others = (odd_sinh - odd_cosh).exp() + (size + even_cosh - odd_cosh).exp() * even
    exact = 0.5 * n * m * (log_sinh + math.log(2.0)) - math.log(2.0) + odd_cosh + others.log1p()
    # Each pair of neighbours adds half the square of its coupling, twice as large across a side of two.
    squares = n * m * sum(2.0 if side == 2 else 1.0 for side in sides)
    return torch.where(weak, n * m * math.log(2.0) + 0.5 * squares * given.square(), exact)
