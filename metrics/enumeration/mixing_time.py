"""The mixing time of a chain on a space that can be listed, measured by powers of its transition matrix."""

from __future__ import annotations

import torch
from torch import Tensor

LONGEST = 2**50
"""Steps after which a chain that has not mixed is given up."""


def worst_distance(power: Tensor, law: Tensor) -> float:
    """Largest total variation between a row of `power` and `law`."""
    return float(0.5 * (power - law).abs().sum(-1).max())


def mixing_time(matrix: Tensor, law: Tensor, threshold: float = 0.25) -> float:
    """The smallest number of steps t with TV(P^t(x, .), law) <= `threshold` from every start x.

    The distance from the worst start never grows with t, so the powers P^(2^k) find t by bisection; rows are
    normalised after every product, so that rounding does not pile up. Infinite if there is no such t up to
    `LONGEST`, as for a periodic chain.

    Args:
        matrix: P, ``(size, size)``.
        law: stationary, ``(size,)``.
        threshold: in (0, 1).
    """
    if worst_distance(torch.eye(len(law), dtype=matrix.dtype), law) <= threshold:
        return 0.0
    powers = [matrix.double()]
    while worst_distance(powers[-1], law) > threshold:
        if 2 ** len(powers) > LONGEST:
            return float("inf")
        powers.append(_normalised(powers[-1] @ powers[-1]))
    # The largest t that has not mixed, built from the highest bit down; the last power has mixed.
    steps, reached = 0, torch.eye(len(law), dtype=torch.float64)
    for bit in range(len(powers) - 2, -1, -1):
        further = _normalised(reached @ powers[bit])
        if worst_distance(further, law) > threshold:
            steps, reached = steps + 2**bit, further
    return float(steps + 1)


def _normalised(matrix: Tensor) -> Tensor:
    return matrix / matrix.sum(-1, keepdim=True)
