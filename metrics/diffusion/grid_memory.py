"""Estimate of the memory that the gap of a grid needs, before anything is allocated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

GIB = 2**30
PER_ENTRY = 40
"""Bytes per entry of the sparse matrix while it is assembled: its indices twice, and copies of it."""
PER_STATE = 400
"""Bytes per state: LOBPCG's blocks, and the vectors of probabilities."""
PER_DENSE = 40
"""Bytes per entry of a dense matrix that is diagonalised."""
PER_FILL = 24
"""Bytes per entry of a sparse factor."""


def grid_bytes(cells: Sequence[int], d: int) -> float:
    """Bytes that the gap of replicas needs, with `cells[k]` cells and `d` coordinates for replica k."""
    states, replicas = math.prod(cells), len(cells)
    entries = states * (2 * d * replicas + replicas)
    if replicas == 1:
        # The factor of a planar graph has of the order of 8 n log2 n entries; twice that to be safe.
        return PER_ENTRY * entries + PER_FILL * 16 * states * math.log2(states + 2)
    return PER_ENTRY * entries + PER_STATE * states + PER_DENSE * sum(size**2 for size in cells)


def require_grid_fits(points: int, need: Callable[[int], float], limit: float) -> None:
    """Refuses a grid that needs more than `limit` GiB.

    Args:
        points: of the grid asked for, along an axis.
        need: number of bytes as a function of the number of points.

    Raises:
        ValueError: naming the largest grid that fits.
    """
    if need(points) <= limit * GIB:
        return
    low, high = 2, points
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if need(middle) <= limit * GIB else (low, middle)
    raise ValueError(
        f"grid={points} points an axis need about {need(points) / GIB:.1f} GiB, more than memory={limit:g}; "
        f"grid={low} would fit"
    )
