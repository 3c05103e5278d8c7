"""What of a target lies outside the domain of a grid, which a gap on that grid knows nothing of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from metrics.diffusion.langevin_generator import Grid, Level, log_density
from targets.target import HasModeWeights, Target

NEGLIGIBLE_MASS = 1e-6
"""Mass outside the domain that is not looked at."""
MOST_MASS = 0.01
"""Mass outside the domain above which a gap is refused."""
MOST_CELLS = 2_000_000
"""Cells of the wider grid; where the given spacing needs more of them it is made coarser."""
WIDEST = 2**10
"""The largest domain that is looked at, in multiples of the given one."""


def variance_outside(target: Target, levels: Sequence[Level], grid: Grid) -> float:
    """The largest share of a level's variance outside the domain of `grid`: an estimate of kappa's error.

    Each level is looked at on a domain twice as wide, with the same spacing. 0 where all of them have less
    than `NEGLIGIBLE_MASS` of their mass outside.

    On a normal distribution it is the relative error of kappa to within a third, for boxes of 2.5 to 4
    standard deviations; levels that swap suffer less.

    Raises:
        ValueError: if a level has more than `MOST_MASS` outside, or a mode lies there; names a box that holds
            them.
    """
    wide = _widened(grid, 2.0)
    shares = _shares(target, levels, wide, grid.box)
    level, (mass, _) = max(enumerate(shares), key=lambda found: found[1][0])
    if mass > MOST_MASS or _farthest_mode(target) > grid.box:
        what = "the target" if level == 0 else f"replica {level + 1} of {len(levels)}"
        outside = f"{100 * mass:.2g} % of the mass of {what} is" if mass > MOST_MASS else "a mode is"
        raise ValueError(
            f"box must hold the target and its replicas, but {outside} outside box={grid.box:g}; "
            f"{_holding(target, levels, grid)}"
        )
    return max((variance for mass, variance in shares if mass > NEGLIGIBLE_MASS), default=0.0)


def _widened(grid: Grid, factor: float) -> Grid:
    """A domain `factor` times as wide, with the spacing of `grid` if the cells allow it."""
    most = int(MOST_CELLS ** (1.0 / grid.d))
    return replace(grid, points=min(round(factor * (grid.points - 1)) + 1, most), box=factor * grid.box)


def _shares(target: Target, levels: Sequence[Level], wide: Grid, box: float) -> list[tuple[float, float]]:
    """Of each level its mass and its variance outside `box`, as shares of those on `wide`."""
    U, cells = log_density(target, wide), wide.cells()
    outside = np.abs(cells).max(-1) > box * (1.0 + 1e-9)
    return [_share(level.log_density(U, cells), cells, outside) for level in levels]


def _share(
    log_pi: NDArray[np.float64], cells: NDArray[np.float64], outside: NDArray[np.bool_]
) -> tuple[float, float]:
    pi = np.exp(log_pi - logsumexp(log_pi))
    squares = pi * ((cells - pi @ cells) ** 2).sum(-1)
    return float(pi[outside].sum()), float(squares[outside].sum() / max(squares.sum(), np.finfo(float).tiny))


def _farthest_mode(target: Target) -> float:
    """The largest coordinate of a mode that has mass; 0 where modes are not known."""
    if not isinstance(target, HasModeWeights):
        return 0.0
    modes = target.modes[target.mode_weights() > NEGLIGIBLE_MASS]
    return float(modes.abs().max()) if len(modes) else 0.0


def _holding(target: Target, levels: Sequence[Level], grid: Grid) -> str:
    """Names a box with all but `NEGLIGIBLE_MASS` of every level."""
    least = max(grid.box, _farthest_mode(target))
    while least <= WIDEST * grid.box:
        wide = _widened(grid, 2.0 * least / grid.box)
        if all(mass <= NEGLIGIBLE_MASS for mass, _ in _shares(target, levels, wide, least)):
            return f"box={least:.3g} holds them"
        least *= 1.25
    return f"box={WIDEST * grid.box:g} does not hold them either"
