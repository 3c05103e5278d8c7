"""The integrated autocorrelation time of a function along a stationary chain, exactly, from its matrix."""

from __future__ import annotations

import torch
from torch import Tensor


def autocorrelation_time(matrix: Tensor, pi: Tensor, values: Tensor) -> float:
    """1 + 2 sum over lags t >= 1 of the correlation of f(X_0) and f(X_t), in steps.

    For f of mean zero the sum over lags t >= 0 is <f, (I - P)^-1 f> / var(f); the inverse is applied through
    the fundamental matrix (I - P + 1 pi)^-1 (Kemeny and Snell 1960). The autocorrelation time is at most 2 /
    gap - 1, with equality for the slowest function of a reversible chain.

    Args:
        matrix: P, ``(size, size)``.
        pi: stationary distribution, ``(size,)``.
        values: f at each state, ``(size,)``, finite.

    Returns:
        NaN for a constant function. The chain must be irreducible.
    """
    matrix, pi = matrix.double(), pi.double()
    centred = values.double() - pi @ values.double()
    variance = float(pi @ centred.square())
    if variance <= 1e-24 * float(1.0 + values.double().square().max()):
        return float("nan")
    fundamental = torch.eye(len(pi), dtype=torch.float64) - matrix + pi
    summed = torch.linalg.solve(fundamental, centred)
    return 2.0 * float(pi @ (centred * summed)) / variance - 1.0
