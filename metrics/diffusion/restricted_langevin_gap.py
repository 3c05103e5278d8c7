"""The gap of LD, ReLD and mReLD restricted to a subset of the space (STMH, Definition 1), on two grids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from metrics.diffusion.langevin_gap import coarser, replicated_inverse_gap
from metrics.diffusion.langevin_generator import (
    NEGLIGIBLE,
    Grid,
    Level,
    Replica,
    joined_replicas,
    log_density,
    replica,
)
from targets.target import Target

Divide = Callable[[Tensor], Mapping[str, Tensor]]
"""From grid cells ``(cells, d)`` to the subsets by name, each bool ``(cells,)``."""

FEWEST = 9
"""Minimum number of cells of a subset."""


@dataclass(frozen=True)
class RestrictedGap:
    """The restricted gap of one subset.

    Attributes:
        gap: minimum of restricted Dirichlet form over restricted variance, on the finer grid; 0 if the subset
            is disconnected.
        error: absolute difference from the coarser grid. The values are not extrapolated, since the boundary
            of the subset is resolved differently on each grid.
        mass: probability of the subset under the target.
    """

    gap: float
    error: float
    mass: float


def restricted_gaps(
    target: Target,
    levels: Sequence[Level],
    rho: float,
    points: int,
    box: float,
    divide: Divide,
    *,
    negligible: float = NEGLIGIBLE,
) -> dict[str, RestrictedGap]:
    """The restricted gap of each subset of the target's space, to which the first replica is confined.

    The other replicas are not confined, and swaps that would move the first replica out are removed. The
    result is a process of the same kind; its gap divided by the subset's mass is the restricted gap.

    Args:
        target, levels, rho, points, box, negligible: as for `metrics.diffusion.langevin_gap.inverse_gap`,
            already checked by `metrics.diffusion.langevin_gap.check_grid`.
        divide: the subsets.

    Raises:
        ValueError: if a subset has fewer than `FEWEST` cells, or its gap is too small for float64.
    """
    fine = Grid(points, box, target.space.d)
    found, coarse = (_on(target, levels, rho, grid, divide, negligible) for grid in (fine, coarser(fine)))
    return {name: RestrictedGap(gap, abs(gap - coarse[name][0]), mass) for name, (gap, mass) in found.items()}


def _on(
    target: Target, levels: Sequence[Level], rho: float, grid: Grid, divide: Divide, negligible: float
) -> dict[str, tuple[float, float]]:
    """Gap and mass of each subset on one grid."""
    U = log_density(target, grid)
    first, *others = (replica(U, level, grid, negligible) for level in levels)
    with torch.no_grad():
        parts = divide(torch.from_numpy(grid.cells()[first.cells]).to(target.like().device, torch.float64))
    found = {}
    for name, held in parts.items():
        kept: NDArray[np.bool_] = held.cpu().numpy()
        cells = int(kept.sum())
        if cells < FEWEST:
            raise ValueError(
                f"restrict leaves {cells} cells of the grid with mass in {name}, at least {FEWEST} are needed"
            )
        chain, mass = first.chain.restricted(kept)
        found[name] = (_gap([Replica(first.cells[kept], chain), *others], rho) / mass, mass)
    return found


def _gap(replicas: Sequence[Replica], rho: float) -> float:
    """1 / kappa, or 0 if the chain is reducible."""
    pieces, _ = connected_components(joined_replicas(replicas, rho).edges, directed=False)
    if pieces > 1:
        return 0.0
    kappa, _ = replicated_inverse_gap(replicas, rho)
    return 1.0 / kappa
