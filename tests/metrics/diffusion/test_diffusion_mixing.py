"""Mixing times of diffusions on a grid: against the matrix exponential, and where they are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg

from metrics.diffusion.diffusion_mixing import (
    MOST_DENSE,
    langevin_mixing,
    mixing_bound_from_heaviest,
    mixing_time_from_heaviest,
)
from metrics.diffusion.langevin_gap import inverse_gap, langevin, reld
from metrics.diffusion.langevin_generator import Grid, Level, joined_replicas, log_density, replica
from targets import GaussianMixture, singular_mixture


@pytest.mark.parametrize("levels", [langevin(), reld(2.5), reld(2.5, "tempered", 0.9)])
@pytest.mark.parametrize("threshold", [0.25, 0.03])
def test_it_is_when_the_matrix_exponential_is_near(levels: tuple[Level, ...], threshold: float) -> None:
    target, grid, rho = GaussianMixture([[-1.0], [1.0]], [0.3, 0.7], 0.16).double(), Grid(13, 2.5, 1), 1.3
    U = log_density(target, grid)
    generator = joined_replicas([replica(U, level, grid) for level in levels], rho)
    pi, Q = np.exp(generator.log_pi), generator.matrix().toarray()
    start = int(np.argmax(pi))
    kappa = float(1.0 / np.linalg.eigvalsh(generator.symmetric().toarray())[1])
    time = mixing_time_from_heaviest(generator, kappa, threshold)

    def distance(t: float) -> float:
        return 0.5 * float(np.abs(scipy.linalg.expm(t * Q)[start] - pi).sum())

    assert distance(time) == pytest.approx(threshold, abs=1e-9)
    assert distance(0.99 * time) > threshold > distance(1.01 * time)
    bound = mixing_bound_from_heaviest(float(pi.max()), kappa, threshold)
    assert time <= bound
    on_grid, its_bound = langevin_mixing(target, levels, rho, grid, kappa, threshold=threshold)
    assert on_grid == pytest.approx(time, rel=1e-9)
    assert its_bound == pytest.approx(bound, rel=1e-9)


def test_two_states_by_hand() -> None:
    """Between even modes, far apart: TV is exp(-t / kappa) / 2, so 1/4 is reached at kappa ln 2."""
    target = singular_mixture(0.2).double()
    found = inverse_gap(target, langevin(), 0.0, 401, 3.0)
    time, bound = langevin_mixing(target, langevin(), 0.0, Grid(401, 3.0, 1), found.fine)
    assert time == pytest.approx(found.fine * math.log(2), rel=2e-3)
    assert time < bound < 10 * time


def test_one_gaussian_from_its_mean() -> None:
    """Ornstein-Uhlenbeck from 0 is N(0, 1 - exp(-2 t)) at time t; the distance of two normals is closed."""

    def distance(t: float) -> float:
        s = math.sqrt(1.0 - math.exp(-2.0 * t))
        cross = s * math.sqrt(-2.0 * math.log(s) / (1.0 - s**2))
        return math.erf(cross / s / math.sqrt(2)) - math.erf(cross / math.sqrt(2))

    time, _ = langevin_mixing(GaussianMixture([[0.0]]).double(), langevin(), 0.0, Grid(601, 7.0, 1), 1.0)
    assert distance(time) == pytest.approx(0.25, abs=1e-3)


def test_a_chain_that_is_there_has_mixed() -> None:
    assert mixing_bound_from_heaviest(0.9, 3.0) == 0.0


def test_it_is_left_out_where_it_cannot_be_had() -> None:
    target = singular_mixture(0.3).double()
    time, bound = langevin_mixing(target, reld(3.0), 3.0, Grid(161, 4.0, 1), 1.1)
    assert math.isnan(time)
    assert bound > 0
    # An inverse gap that rounding has eaten.
    narrow = singular_mixture(0.1).double()
    time, bound = langevin_mixing(narrow, langevin(), 0.0, Grid(401, 4.0, 1), 1e19)
    assert math.isnan(time)
    assert math.isfinite(bound)
    assert MOST_DENSE < 161**2
