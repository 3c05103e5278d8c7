"""The integrated autocorrelation time of a function along a stationary chain, exactly, from its matrix."""

from __future__ import annotations

import torch
from torch import Tensor


def autocorrelation_time(matrix: Tensor, law: Tensor, values: Tensor) -> float:
    """1 + 2 sum over lags t >= 1 of the correlation of f(X_0) and f(X_t), in steps.

    The sum over lags from 0 is <f, (I - P)^-1 f> over var(f), for f of mean zero, and that inverse is applied
    through the fundamental matrix (I - P + 1 pi)^-1 (Kemeny and Snell 1960). For any chain it is at most
    2 / gap - 1, with equality for the slowest function of a reversible one.

    Args:
        matrix: P, ``(size, size)``.
        law: stationary, ``(size,)``.
        values: f at each state, ``(size,)``, finite.

    Returns:
        NaN for a constant function. Only for a chain that does not fall into pieces.
    """
    matrix, law = matrix.double(), law.double()
    centred = values.double() - law @ values.double()
    variance = float(law @ centred.square())
    if variance <= 1e-24 * float(1.0 + values.double().square().max()):
        return float("nan")
    fundamental = torch.eye(len(law), dtype=torch.float64) - matrix + law
    summed = torch.linalg.solve(fundamental, centred)
    return 2.0 * float(law @ (centred * summed)) / variance - 1.0
