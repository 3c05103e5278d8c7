"""The gap of LD, ReLD and mReLD restricted to a part of the space (STMH, Definition 1), on two grids."""

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
    joined,
    log_density,
    replica,
)
from targets.target import Target

Divide = Callable[[Tensor], Mapping[str, Tensor]]
"""From grid cells ``(cells, d)`` to the subsets that hold them, each bool ``(cells,)``."""

FEWEST = 9
"""Cells with which a subset is thought to be resolved."""


@dataclass(frozen=True)
class RestrictedGap:
    """What Definition 1 makes of one subset.

    Attributes:
        gap: smallest restricted Dirichlet form over restricted variance, on the finer grid; 0 where the
            subset falls into pieces.
        error: how far that is from the coarser grid's. Nothing is extrapolated: the border of a subset runs
            between cells, elsewhere on every grid.
        mass: of the subset under the target.
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
    """The restricted gap of each subset of the target's space, in which the first replica must stay.

    The others are free, and a swap that would take the first one out is not made. So the restricted form is
    that of a process of the same kind, and the gap of that one over the subset's mass is the restricted gap.

    Args:
        target, levels, rho, points, box, negligible: as `metrics.diffusion.langevin_gap.inverse_gap`, which
            is to have checked them.
        divide: the subsets.

    Raises:
        ValueError: if a subset has fewer than `FEWEST` cells with mass, or its gap is too small for float64.
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
    """1 / kappa, 0 where nothing joins some states to others."""
    pieces, _ = connected_components(joined(replicas, rho).edges, directed=False)
    if pieces > 1:
        return 0.0
    kappa, _ = replicated_inverse_gap(replicas, rho)
    return 1.0 / kappa
