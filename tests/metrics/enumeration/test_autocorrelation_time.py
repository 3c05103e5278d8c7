"""The integrated autocorrelation time: by summing lags, by the eigenvalue, and by running the chain."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from metrics.enumeration.convergence import autocorrelation_time, chain_spectrum
from metrics.enumeration.transition_matrix import tempered_probabilities, transition_matrix
from samplers.discrete.random_walk import RandomWalk
from targets.spaces import Ordinal
from targets.target import Target
from tests.metrics.enumeration.test_spectrum import random_chain, reversible_chain


class Valley(Target):
    """Six levels, with modes at both ends."""

    space: Ordinal

    def __init__(self) -> None:
        super().__init__()
        self.space = Ordinal(1, 6)

    def log_prob(self, theta: Tensor) -> Tensor:
        return 0.15 * (theta[..., 0] - 2.4).square()


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_sum_over_lags(seed: int) -> None:
    for matrix, pi in (random_chain(7, seed), reversible_chain(7, seed)):
        f = torch.randn(7, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        centred = f - pi @ f
        total, moved = -1.0, centred
        for _ in range(4_000):
            total += 2.0 * float(pi @ (centred * moved) / (pi @ centred.square()))
            moved = matrix @ moved
        found = autocorrelation_time(matrix, pi, f)
        assert found == pytest.approx(total, rel=1e-9)
        assert autocorrelation_time(matrix, pi, 3.0 * f + 50.0) == pytest.approx(found, rel=1e-9)
        # No function is slower than the gap allows.
        assert found <= 2.0 * chain_spectrum(matrix, pi).inverse_gap - 1.0 + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_the_slowest_function_attains_the_bound(seed: int) -> None:
    matrix, pi = reversible_chain(9, seed)
    spectrum = chain_spectrum(matrix, pi)
    found = autocorrelation_time(matrix, pi, spectrum.slowest)
    assert found == pytest.approx(2.0 * spectrum.inverse_gap - 1.0, rel=1e-10)


def test_a_constant_has_none() -> None:
    matrix, pi = reversible_chain(5, 0)
    assert math.isnan(autocorrelation_time(matrix, pi, torch.full((5,), 7.3, dtype=torch.float64)))


def test_a_simulated_chain_has_the_time_that_its_matrix_says() -> None:
    """The variance of the means of 20,000 stationary chains of 400 steps is tau / 400 times that of a state.

    With tau_n = tau minus what a finite chain lacks, summed exactly. The variance of 20,000 normal means has
    relative error sqrt(2 / 20,000) = 0.01; 0.05 is five of them: false alarm 6e-7.
    """
    target, kernel, chains, steps = Valley(), RandomWalk(1), 20_000, 400
    pi, matrix = tempered_probabilities(target), transition_matrix(kernel, target)
    states = target.space.states()
    energy = target.log_prob(states).double()
    variance = float(pi @ (energy - pi @ energy).square())
    centred, moved, finite = energy - pi @ energy, energy - pi @ energy, -1.0
    for lag in range(steps):
        finite += 2.0 * (1.0 - lag / steps) * float(pi @ (centred * moved)) / variance
        moved = matrix @ moved
    generator = torch.Generator().manual_seed(4)
    start = torch.multinomial(pi, chains, replacement=True, generator=generator)
    one = torch.ones((), dtype=torch.float64)
    state, total = kernel.init(target, states[start], one), torch.zeros(chains, dtype=torch.float64)
    for _ in range(steps):
        state, _ = kernel.step(target, state, one, generator)
        total += state.log_prob
    measured = steps * float((total / steps).var()) / variance
    assert measured == pytest.approx(finite, rel=0.05)
    assert autocorrelation_time(matrix, pi, energy) == pytest.approx(finite, rel=0.05)
