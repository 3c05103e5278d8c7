"""Samplers on an Ising model of 32 x 32 spins, against its exact energy and magnetisation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from metrics import run_chains
from metrics.statistics.jackknife import jackknife
from samplers import DMALA, ParallelTempering, SwendsenWang
from targets import Ising
from targets.exact_moments import energy_moments
from targets.lattice.infinite_lattice import spontaneous_magnetisation

CRITICAL = 0.5 * math.log(1 + math.sqrt(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coupling", "hottest", "rungs", "steps"),
    [(0.35, 0.25, 3, 4_000), (CRITICAL, 0.25, 16, 6_000), (0.5, 0.38, 8, 12_000)],
)
def test_the_energy_is_within_four_standard_errors(
    coupling: float, hottest: float, rungs: int, steps: int
) -> None:
    """Both sides of the transition and at it; false alarm 6e-5 if errors are normal, and the seed is fixed.

    `hottest` is the coupling where the ladder ends, above the transition's temperature. At 0.5 chains that
    start at random have boundaries between two magnetisations, the last of which go within 5,000 steps.
    """
    target = Ising(size=32, coupling=coupling).to(torch.float32)
    kernel = ParallelTempering(DMALA(step_size=0.2), np.linspace(1.0, hottest / coupling, rungs).tolist())
    result = run_chains(target, kernel, chains=20, steps=steps, burn_in=steps // 2, thin=10, seed=1)
    energy, error = jackknife(result.log_prob.astype(np.float64).T[None], lambda means: means[0])
    exact, _ = energy_moments(target)
    assert error < 0.01 * exact
    assert abs(energy - exact) < 4 * error


@pytest.mark.slow
def test_the_magnetisation_below_the_transition_is_onsagers() -> None:
    """That of the infinite lattice, from which 32 x 32 spins at J = 0.5 hardly differ: within 4 errors."""
    result = run_chains(
        Ising(size=32, coupling=0.5), SwendsenWang(), chains=20, steps=400, burn_in=200, seed=1
    )
    spins = np.abs(2 * result.draws.mean(-1, dtype=np.float64) - 1)
    magnetisation, error = jackknife(spins.T[None], lambda means: means[0])
    assert error < 0.005
    assert abs(magnetisation - spontaneous_magnetisation(0.5)) < 4 * error
