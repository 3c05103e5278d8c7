"""The inverse gap of a birth-death chain, by sums of positive terms and thus to full precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

Array = NDArray[np.float64]

TAIL = -600.0
"""Log probability below which the states at the ends are left out, so that nothing underflows."""


def line_inverse_gap(log_pi: Array, log_edges: Array) -> float:
    """sup var(f) / E(f) of the birth-death chain with jump rates ``edges sqrt(pi' / pi)``.

    With g the differences of f between neighbours, var(f) = sum g g' F(1 - F) over pairs of edges (the F of
    the left edge, the 1 - F of the right one) and E(f) = sum c g^2 with c = edges sqrt(pi pi'). So kappa is
    the largest eigenvalue of a matrix of positive entries, which is computed without cancellation however
    large it is; an eigensolver for the generator itself fails at kappa of about 1e8. It is the discrete form
    of the Muckenhoupt functional, with the exact supremum instead of a bound within a factor 4.

    Args:
        log_pi: log of the stationary distribution, ``(states,)``.
        log_edges: log of the symmetric edge weights, ``(states - 1,)``.

    Raises:
        ValueError: if kappa is beyond the range of float64 or there are fewer than three states.
    """
    inside = np.flatnonzero(log_pi - np.logaddexp.reduce(log_pi) > TAIL)
    if len(inside) < 3:
        raise ValueError(f"a gap needs at least three states with mass, {len(inside)} have any")
    kept = slice(inside[0], inside[-1] + 1)
    log_pi = log_pi[kept] - np.logaddexp.reduce(log_pi[kept])
    log_edges = log_edges[inside[0] : inside[-1]]
    half = 0.5 * (log_edges + 0.5 * (log_pi[1:] + log_pi[:-1]))
    below = np.logaddexp.accumulate(log_pi)[:-1]
    above = np.logaddexp.accumulate(log_pi[::-1])[::-1][1:]
    highest = float(np.max(below + above - 2.0 * half))
    if highest > 600.0:
        raise ValueError(f"the inverse gap is above exp({highest:.0f}), beyond float64")
    left: Array = np.exp(below - half)
    right: Array = np.exp(above - half)

    def apply(vector: Array) -> Array:
        flat = vector.ravel()
        to_right = np.cumsum(left * flat)
        to_left = np.cumsum((right * flat)[::-1])[::-1] - right * flat
        return right * to_right + left * to_left

    edges = len(half)
    if edges == 2:
        return float(np.linalg.eigvalsh(np.stack([apply(row) for row in np.eye(2)]))[-1])
    start = np.exp(0.5 * (below + above) - half - 0.5 * highest)
    operator = LinearOperator((edges, edges), matvec=apply, dtype=np.float64)
    return float(eigsh(operator, k=1, which="LA", v0=start, tol=1e-12, return_eigenvectors=False)[0])
