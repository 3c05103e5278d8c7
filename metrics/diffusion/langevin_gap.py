"""Inverse spectral gaps of LD, ReLD and mReLD, on two grids to estimate the discretisation error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metrics.diffusion.generator_gap import (
    SeparableSolver,
    factorised_inverse_gap,
    preconditioned_inverse_gap,
    rounding_error,
)
from metrics.diffusion.grid_domain import variance_outside
from metrics.diffusion.langevin_generator import (
    NEGLIGIBLE,
    Grid,
    Level,
    Replica,
    grid_bytes,
    joined_replicas,
    log_density,
    replica,
    require_grid_fits,
)
from metrics.diffusion.line_gap import line_inverse_gap
from metrics.diffusion.reversible_generator import ReversibleGenerator
from samplers.hyperparameters import positive
from targets.checks import is_number, one_of, whole_number
from targets.target import Target

REFERENCES = ("phi", "tempered")

NEAR, FAR = 1.25, 10.0
"""Factors between kappa on the two grids: up to which the error is of second order, and beyond which there is
no answer."""


@dataclass(frozen=True)
class InverseGap:
    """kappa of a diffusion.

    Attributes:
        kappa: extrapolated to spacing 0 from the two grids (`extrapolated`).
        error: that of the extrapolation, plus the rounding error, plus an estimate of what the
            domain leaves out (`metrics.diffusion.grid_domain.variance_outside`).
        fine: kappa on the finer grid.
        coarse: on the coarser one.
        states: of the finer grid.
    """

    kappa: float
    error: float
    fine: float
    coarse: float
    states: int


def langevin() -> tuple[Level, ...]:
    """Langevin diffusion (ReLD, Eq. 1): the target alone."""
    return (Level(),)


def reld(tau: float, reference: str = "phi", scale: float = 1.0) -> tuple[Level, ...]:
    """The two replicas of ReLD.

    Args:
        tau: temperature and speed of the second one.
        reference: its distribution, ``phi``: phi(y / M) alone, or ``tempered``: pi^(1/tau) phi(y / M) as in
            Eq. 3.
        scale: M.

    Raises:
        ValueError: if an argument is out of range.
    """
    one_of("reference", reference, REFERENCES)
    positive("tau", tau)
    positive("scale", scale)
    return Level(), Level(0.0 if reference == "phi" else 1.0 / tau, float(tau), float(scale))


def inverse_gap(
    target: Target,
    levels: Sequence[Level],
    rho: float,
    points: int,
    box: float,
    *,
    memory: float = 8.0,
    negligible: float = NEGLIGIBLE,
) -> InverseGap:
    """kappa = sup Var / Dirichlet form (ReLD, Eq. 2), in units of time, of the diffusion on `levels`.

    Args:
        target: on Real(1) or Real(2).
        levels: from the target to the hottest.
        rho: intensity of the swaps; ignored if there is one level.
        points: of the finer grid along an axis; the coarser one has two thirds of its intervals.
        box: half the width of the grid, centred at 0.
        memory: limit in GiB.
        negligible: probability below which a cell is left out of a level.

    Raises:
        ValueError: if a setting is out of range, the grid exceeds the memory, the target is not within the
            box or not resolved, or kappa is too large.
    """
    outside = check_grid(target, levels, rho, points, box, memory, negligible)
    fine = Grid(points, box, target.space.d)
    coarse = coarser(fine)
    (on_fine, rounding, states), (on_coarse, _, _) = (
        _on(target, levels, rho, grid, negligible) for grid in (fine, coarse)
    )
    kappa, error = extrapolated(on_fine, on_coarse, (coarse.spacing / fine.spacing) ** 2, points)
    return InverseGap(kappa, error + (rounding + outside) * kappa, on_fine, on_coarse, states)


def extrapolated(fine: float, coarse: float, ratio: float, points: int) -> tuple[float, float]:
    """kappa at spacing 0, and its absolute error, of two grids whose squared spacings have `ratio`.

    Where the two values differ by more than `NEAR` they are no longer of second order: their logarithms are
    extrapolated, which keeps kappa positive, and the relative error is what one exceeds the other by.

    Raises:
        ValueError: if they differ by more than a factor of `FAR`: the grid does not resolve the target.
    """
    factor = max(fine / coarse, coarse / fine)
    if factor > FAR:
        raise ValueError(
            f"grid={points} points do not resolve the target: kappa is {fine:.2g} on this grid and "
            f"{coarse:.2g} on the one with two thirds of its intervals; give more points, or a smaller box"
        )
    if factor > NEAR:
        kappa = fine * (fine / coarse) ** (1.0 / (ratio - 1.0))
        return kappa, (factor - 1.0) * kappa
    kappa = (ratio * fine - coarse) / (ratio - 1.0)
    return kappa, abs(kappa - fine)


def coarser(grid: Grid) -> Grid:
    """The second grid, on the same domain with two thirds of the intervals."""
    return Grid(2 * (grid.points - 1) // 3 + 1, grid.box, grid.d)


def check_grid(
    target: Target,
    levels: Sequence[Level],
    rho: float,
    points: int,
    box: float,
    memory: float,
    negligible: float = NEGLIGIBLE,
) -> float:
    """Checks the arguments of `inverse_gap`, at the cost of evaluating the target on a grid twice as wide.

    Returns:
        The relative error of kappa from what is outside the box, estimated.

    Raises:
        ValueError: naming the invalid argument, the largest grid that fits, or a box that holds the target.
    """
    whole_number("grid", points, 9)
    positive("box", box)
    positive("memory", memory)
    if len(levels) > 1:
        positive("rho", rho)
    if not is_number(negligible) or not 0.0 < negligible < 1e-6:
        raise ValueError(f"negligible must be a number between 0 and 1e-06, {negligible!r} was given")
    d = target.space.d
    if d > 2:
        raise ValueError(f"a grid needs a target in one or two dimensions, this one has {d}")
    # The grid of one replica must fit before the number of cells that are kept can be computed.
    require_grid_fits(points, lambda n: 64.0 * n**d, memory)
    grid = Grid(points, box, d)
    if d == 1 and len(levels) == 1:
        return variance_outside(target, levels, grid)
    U = log_density(target, grid)
    shares = [len(replica(U, level, grid, negligible).cells) / points**d for level in levels]
    require_grid_fits(points, lambda n: grid_bytes([int(share * n**d) for share in shares], d), memory)
    return variance_outside(target, levels, grid)


def _on(
    target: Target, levels: Sequence[Level], rho: float, grid: Grid, negligible: float
) -> tuple[float, float, int]:
    """kappa on one grid, its relative rounding error, and the number of states."""
    U = log_density(target, grid)
    if grid.d == 1 and len(levels) == 1:
        level = levels[0]
        log_pi = level.log_density(U, grid.cells())
        log_edges = np.full(grid.points - 1, np.log(level.tau / grid.spacing**2))
        return line_inverse_gap(log_pi, log_edges), 1e-12, grid.points
    kappa, generator = replicated_inverse_gap([replica(U, level, grid, negligible) for level in levels], rho)
    return kappa, rounding_error(generator, kappa), generator.size


def replicated_inverse_gap(replicas: Sequence[Replica], rho: float) -> tuple[float, ReversibleGenerator]:
    """kappa of replicas that swap with their neighbours, or of one alone, and the generator that has it.

    Raises:
        ValueError: if the chain is reducible, or kappa is too large for float64.
    """
    generator = joined_replicas(replicas, rho)
    if len(replicas) == 1:
        return factorised_inverse_gap(generator), generator
    axes = [one.chain.symmetric().toarray() for one in replicas]
    return preconditioned_inverse_gap(generator, SeparableSolver(axes, shift=rho)), generator
