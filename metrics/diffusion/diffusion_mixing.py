"""The mixing time of a diffusion on a grid from its most probable state: exact, and bounded by the gap."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metrics.diffusion.generator_gap import ROUNDING, rounding_error
from metrics.diffusion.langevin_generator import (
    NEGLIGIBLE,
    Grid,
    Level,
    joined_replicas,
    log_density,
    replica,
)
from metrics.diffusion.reversible_generator import ReversibleGenerator
from targets.target import Target

Array = NDArray[np.float64]

MOST_DENSE = 2_500
"""Maximum number of states: all eigenvectors of a larger matrix take minutes."""

HALVINGS = 60


def mixing_time_from_heaviest(generator: ReversibleGenerator, kappa: float, threshold: float = 0.25) -> float:
    """The time t after which the total variation distance to stationarity is at most `threshold`.

    The chain starts at its most probable state, a mode of the target: the worst start would be a corner of
    the grid, which depends on the domain and not on the target. The distance is exact at every t,

        1/2 sum_j |sum_k>=1 exp(-l_k t) v_k(s) v_k(j) sqrt(pi_j / pi_s)|,

    with all eigenpairs of the symmetric generator but that of constants. It does not increase with t, so t is
    found by bisection.

    Args:
        kappa: inverse gap of `generator`.
        threshold: in (0, 1).

    Returns:
        NaN for more than `MOST_DENSE` states, or if `kappa` is too large for float64.
    """
    if generator.size > MOST_DENSE or not rounding_error(generator, kappa) <= ROUNDING:
        return math.nan
    values, vectors = np.linalg.eigh(generator.symmetric().toarray())
    root = generator.root()
    start = int(np.argmax(root))
    rates, weights, modes = values[1:], vectors[start, 1:] / root[start], vectors[:, 1:]

    def distance(time: float) -> float:
        return 0.5 * float(root @ np.abs(modes @ (weights * np.exp(-rates * time))))

    if distance(0.0) <= threshold:
        return 0.0
    low, high = 0.0, kappa
    while distance(high) > threshold:
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if distance(middle) > threshold else (low, middle)
    return high


def mixing_bound_from_heaviest(heaviest: float, kappa: float, threshold: float = 0.25) -> float:
    """Upper bound on the same time by `kappa`: from 4 TV^2 <= exp(-2 t / kappa) (1 / pi_s - 1).

    It increases with the logarithm of the number of cells, since the start is a single cell.

    Args:
        heaviest: pi_s, the probability of the most probable state.
    """
    distance = (1.0 / heaviest - 1.0) / (4.0 * threshold**2)
    return 0.5 * kappa * math.log(distance) if distance > 1.0 else 0.0


def langevin_mixing(
    target: Target,
    levels: Sequence[Level],
    rho: float,
    grid: Grid,
    kappa: float,
    *,
    negligible: float = NEGLIGIBLE,
    threshold: float = 0.25,
) -> tuple[float, float]:
    """Mixing time of a diffusion from its most probable state, and its upper bound, in units of time.

    Args:
        target, levels, rho, negligible: as `metrics.diffusion.langevin_gap.inverse_gap`.
        kappa: inverse gap on `grid`.

    Returns:
        The first is NaN where it cannot be computed, see `mixing_time_from_heaviest`.
    """
    U = log_density(target, grid)
    replicas = [replica(U, level, grid, negligible) for level in levels]
    heaviest = math.exp(sum(float(one.chain.log_pi.max()) for one in replicas))
    bound = mixing_bound_from_heaviest(heaviest, kappa, threshold)
    if math.prod(len(one.cells) for one in replicas) > MOST_DENSE:
        return math.nan, bound
    return mixing_time_from_heaviest(joined_replicas(replicas, rho), kappa, threshold), bound
