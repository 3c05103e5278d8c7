"""DMALA under tempering on an Ising model of 32 x 32 spins, against its exact energy and magnetisation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from metrics import run_chains
from metrics.statistics.jackknife import jackknife
from samplers import DMALA, ParallelTempering
from targets import Ising
from targets.exact_moments import energy_moments
from targets.lattice.square_lattice import spontaneous_magnetisation

CRITICAL = 0.5 * math.log(1 + math.sqrt(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coupling", "rungs", "steps"), [(0.3, 3, 2_000), (CRITICAL, 16, 6_000), (0.5, 20, 6_000)]
)
def test_the_energy_is_within_four_standard_errors(coupling: float, rungs: int, steps: int) -> None:
    """Both sides of the transition and at it; false alarm 6e-5 if errors are normal, and the seed is fixed.

    The ladder ends at the coupling 0.25, above the transition's temperature.
    """
    target = Ising(size=32, coupling=coupling).to(torch.float32)
    kernel = ParallelTempering(DMALA(step_size=0.2), np.linspace(1.0, 0.25 / coupling, rungs).tolist())
    result = run_chains(target, kernel, chains=20, steps=steps, burn_in=steps // 3, thin=10, seed=1)
    energy, error = jackknife(result.log_prob.astype(np.float64).T[None], lambda means: means[0])
    exact, _ = energy_moments(target)
    assert error < 0.01 * exact
    assert abs(energy - exact) < 4 * error
    if coupling > CRITICAL:
        spins = np.abs(2 * result.draws.mean(-1, dtype=np.float64) - 1)
        magnetisation, error = jackknife(spins.T[None], lambda means: means[0])
        assert error < 0.01
        assert abs(magnetisation - spontaneous_magnetisation(coupling)) < 4 * error
