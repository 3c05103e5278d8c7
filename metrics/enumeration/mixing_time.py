"""The mixing time of a chain on a small space, from powers of its transition matrix."""

from __future__ import annotations

import torch
from torch import Tensor

LONGEST = 2**50
"""Number of steps after which the search ends."""


def worst_distance(power: Tensor, pi: Tensor) -> float:
    """Largest total variation distance between a row of `power` and `pi`."""
    return float(0.5 * (power - pi).abs().sum(-1).max())


def mixing_time(matrix: Tensor, pi: Tensor, threshold: float = 0.25) -> float:
    """The smallest number of steps t with TV(P^t(x, .), pi) <= `threshold` for every start x.

    The largest distance over x does not increase with t, so t is found by bisection with the powers P^(2^k);
    rows are normalised after every product against the accumulation of rounding errors. Infinite if there is
    no such t up to `LONGEST`, as for a periodic chain.

    Args:
        matrix: P, ``(size, size)``.
        pi: stationary distribution, ``(size,)``.
        threshold: in (0, 1).
    """
    if worst_distance(torch.eye(len(pi), dtype=matrix.dtype), pi) <= threshold:
        return 0.0
    powers = [matrix.double()]
    while worst_distance(powers[-1], pi) > threshold:
        if 2 ** len(powers) > LONGEST:
            return float("inf")
        powers.append(_normalised(powers[-1] @ powers[-1]))
    # The largest t that is still above the threshold, from its highest bit down; the last power is below.
    steps, reached = 0, torch.eye(len(pi), dtype=torch.float64)
    for bit in range(len(powers) - 2, -1, -1):
        further = _normalised(reached @ powers[bit])
        if worst_distance(further, pi) > threshold:
            steps, reached = steps + 2**bit, further
    return float(steps + 1)


def _normalised(matrix: Tensor) -> Tensor:
    return matrix / matrix.sum(-1, keepdim=True)
