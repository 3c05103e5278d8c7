"""Gaps, mixing and autocorrelation times of transition matrices: by hand, brute force and simulation."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import reduce

import pytest
import torch
from torch import Tensor

from metrics.enumeration.convergence import (
    autocorrelation_time,
    chain_spectrum,
    mixing_time,
    restricted_gap,
    worst_distance,
)
from metrics.enumeration.tempered_transition import product_distribution, tempering_matrix
from metrics.enumeration.transition_matrix import stationary, tempered_probabilities, transition_matrix
from samplers import Gibbs, ParallelTempering, RandomWalk, Swaps
from targets.spaces import Ordinal
from tests.support.steps.stepping import ONE
from tests.support.targets.small_targets import TwoHills, random_target

THREE = torch.tensor([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]], dtype=torch.float64)
PI = torch.tensor([0.25, 0.5, 0.25], dtype=torch.float64)
"""Eigenvalues 1, 1/2, 0; eigenfunctions (1, 0, -1) and (1, -1, 1)."""

TURN = torch.tensor([[0.1, 0.9, 0.0], [0.0, 0.1, 0.9], [0.9, 0.0, 0.1]], dtype=torch.float64)
EVEN = torch.full((3,), 1 / 3, dtype=torch.float64)
"""A rotation: eigenvalues 0.1 + 0.9 w with w^3 = 1."""

HALF = torch.full((2,), 0.5, dtype=torch.float64)


def random_chain(size: int, seed: int) -> tuple[Tensor, Tensor]:
    """An irreducible chain that is not reversible, and its stationary distribution."""
    generator = torch.Generator().manual_seed(seed)
    matrix = torch.rand((size, size), generator=generator, dtype=torch.float64) ** 3
    matrix = matrix / matrix.sum(-1, keepdim=True)
    return matrix, stationary(matrix)


def reversible_chain(size: int, seed: int) -> tuple[Tensor, Tensor]:
    """Metropolis with a uniform proposal."""
    pi = torch.rand(size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) + 0.05
    pi = pi / pi.sum()
    matrix = torch.clamp(pi / pi.unsqueeze(-1), max=1.0) / size
    matrix.fill_diagonal_(0.0)
    return matrix + torch.diag(1.0 - matrix.sum(-1)), pi


def two_states(stay: float) -> Tensor:
    return torch.tensor([[stay, 1 - stay], [1 - stay, stay]], dtype=torch.float64)


MODULUS = abs(0.1 + 0.9 * complex(math.cos(2 * math.pi / 3), math.sin(2 * math.pi / 3)))


@pytest.mark.parametrize(
    ("matrix", "pi", "gap", "modulus", "reversible"),
    [
        (THREE, PI, 0.5, 0.5, True),
        (two_states(0.1), HALF, 1.8, 0.8, True),  # a negative eigenvalue counts for the modulus alone
        (TURN, EVEN, 1.0 - (0.1 - 0.45), MODULUS, False),  # the gap is that of the reversibilisation
        (two_states(0.0), HALF, 2.0, 1.0, True),  # periodic
        (torch.block_diag(THREE, THREE), torch.cat([PI, PI]) / 2, 0.0, 1.0, True),  # reducible
    ],
)
def test_spectra_by_hand(matrix: Tensor, pi: Tensor, gap: float, modulus: float, reversible: bool) -> None:
    found = chain_spectrum(matrix, pi)
    assert found.reversible == reversible
    assert found.gap == pytest.approx(gap, abs=1e-13)
    assert found.inverse_gap == pytest.approx(1 / gap if gap else math.inf, abs=1e-12)
    assert (found.second_modulus, found.contraction) == pytest.approx((modulus, modulus), abs=1e-13)
    steps = -1 / math.log(modulus) if modulus < 1 else math.inf
    assert found.relaxation_time == pytest.approx(steps, abs=1e-12)
    if modulus == 1:
        assert mixing_time(matrix, pi) == found.mixing_time_bound(0.1) == math.inf


def test_the_slowest_function_of_three_states() -> None:
    slowest = chain_spectrum(THREE, PI).slowest
    expected = torch.tensor([1.0, 0.0, -1.0], dtype=torch.float64) * math.sqrt(2)
    assert torch.allclose(slowest * slowest[0].sign(), expected)


@pytest.mark.parametrize("seed", range(3))
def test_the_gap_is_the_smallest_dirichlet_form_over_variance(seed: int) -> None:
    for matrix, pi in (random_chain(7, seed), reversible_chain(7, seed)):
        found = chain_spectrum(matrix, pi)

        def quotient(f: Tensor, matrix: Tensor = matrix, pi: Tensor = pi) -> float:
            square = (f.unsqueeze(-1) - f).square()
            form = 0.5 * (pi.unsqueeze(-1) * matrix * square).sum()
            return float(form / (0.5 * (torch.outer(pi, pi) * square).sum()))

        assert quotient(found.slowest) == pytest.approx(found.gap, abs=1e-12)
        for other in torch.randn(50, 7, generator=torch.Generator().manual_seed(seed), dtype=torch.float64):
            assert quotient(other) >= found.gap - 1e-12
        assert float(pi @ found.slowest) == pytest.approx(0.0, abs=1e-12)
        assert float(pi @ found.slowest.square()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("matrix", "pi", "words"),
    [
        (THREE, EVEN, "not stationary"),
        (THREE * math.nan, PI, "not stationary"),  # LAPACK would crash
        (THREE, torch.tensor([0.5, 0.5, 0.0]), "positive at every state"),
        (torch.ones(1, 1), torch.ones(1), "a gap needs at least two states, 1 were given"),
    ],
)
def test_what_is_no_chain_with_its_distribution_is_refused(matrix: Tensor, pi: Tensor, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        chain_spectrum(matrix, pi)


@pytest.mark.parametrize("seed", range(3))
def test_the_restricted_gap_is_stmh_definition_1(seed: int) -> None:
    matrix, pi = reversible_chain(8, seed)
    kept = torch.tensor([True, True, False, True, True, False, True, True])
    found = restricted_gap(matrix, pi, kept)
    # Over functions on the subset both forms are quadratic: the smallest generalised eigenvalue but one.
    p, K = pi[kept], matrix[kept][:, kept]
    flow = p.unsqueeze(-1) * K
    form = torch.diag(0.5 * (flow.sum(-1) + flow.sum(0))) - 0.5 * (flow + flow.T)
    variance = p.sum() * torch.diag(p) - torch.outer(p, p)
    basis = torch.linalg.qr(torch.cat([torch.ones((6, 1)), torch.eye(6)[:, :5]], 1).double()).Q[:, 1:]
    values = torch.linalg.eigvals(torch.linalg.solve(basis.T @ variance @ basis, basis.T @ form @ basis))
    assert found == pytest.approx(float(values.real.min()), abs=1e-12)
    whole = torch.ones(8, dtype=torch.bool)
    assert restricted_gap(matrix, pi, whole) == pytest.approx(chain_spectrum(matrix, pi).gap, abs=1e-12)
    with pytest.raises(ValueError, match="at least two states"):
        restricted_gap(matrix, pi, torch.arange(8) == 2)


@pytest.mark.parametrize("seed", range(4))
def test_the_mixing_time_is_that_of_stepping_one_by_one(seed: int) -> None:
    for matrix, pi in (random_chain(6, seed), reversible_chain(30, seed), (THREE, PI)):
        for threshold in (0.25, 0.01, 0.99):
            power, steps = torch.eye(len(pi), dtype=torch.float64), 0
            while worst_distance(power, pi) > threshold:
                power, steps = power @ matrix, steps + 1
            assert mixing_time(matrix, pi, threshold) == steps
            bound = chain_spectrum(matrix, pi).mixing_time_bound(float(pi.min()), threshold)
            assert steps <= bound
            assert bound == int(bound)


def test_the_bound_is_a_number_of_steps() -> None:
    even = torch.full((16, 16), 1 / 16, dtype=torch.float64)  # independent draws: contraction 2e-16
    assert mixing_time(even, even[0]) == chain_spectrum(even, even[0]).mixing_time_bound(1 / 16) == 1.0
    exactly = replace(chain_spectrum(THREE, PI), contraction=0.0)
    assert exactly.mixing_time_bound(0.25) == 1.0
    reducible = chain_spectrum(torch.eye(2, dtype=torch.float64), HALF)
    assert reducible.mixing_time_bound(0.5) == math.inf
    assert reducible.mixing_time_bound(0.5, 0.99) == 0.0  # reached at the start


def test_a_slow_chain_mixes_after_millions_of_steps() -> None:
    # Two states that swap with probability a: TV after t steps is (1 - 2 a)^t / 2.
    a = 1e-8
    assert mixing_time(two_states(1 - a), HALF) == pytest.approx(math.log(2) / (2 * a), rel=1e-6)
    assert chain_spectrum(two_states(1 - a), HALF).inverse_gap == pytest.approx(1 / (2 * a), rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_autocorrelation_time_is_the_sum_over_lags(seed: int) -> None:
    for matrix, pi in (random_chain(7, seed), reversible_chain(7, seed)):
        f = torch.randn(7, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        centred = f - pi @ f
        total, moved = -1.0, centred
        for _ in range(1_000):
            total += 2.0 * float(pi @ (centred * moved) / (pi @ centred.square()))
            moved = matrix @ moved
        found = autocorrelation_time(matrix, pi, f)
        assert found == pytest.approx(total, rel=1e-9)
        assert autocorrelation_time(matrix, pi, 3.0 * f + 50.0) == pytest.approx(found, rel=1e-9)
        # No function is slower than the gap allows; that of the gap attains it in a reversible chain.
        spectrum = chain_spectrum(matrix, pi)
        bound = 2.0 * spectrum.inverse_gap - 1.0
        assert found <= bound + 1e-9
        if spectrum.reversible:
            assert autocorrelation_time(matrix, pi, spectrum.slowest) == pytest.approx(bound, rel=1e-10)
        assert math.isnan(autocorrelation_time(matrix, pi, torch.full((7,), 7.3, dtype=torch.float64)))


def test_a_simulated_chain_has_the_correlations_and_the_time_that_its_matrix_gives() -> None:
    """20,000 stationary chains of 200 steps; all bounds are five standard errors: false alarms below 3e-6.

    The correlation of the slowest function at lag t is lambda_2^t, with standard error at most 1 / sqrt(n).
    The variance of the chains' means is tau_n / 200 times that of a state, where tau_n is tau minus what a
    finite chain lacks, summed exactly; a variance of n normal means has relative error sqrt(2 / n) = 0.01.
    """
    target, kernel, n, steps = TwoHills(0.15), RandomWalk(1), 20_000, 200
    pi, matrix = tempered_probabilities(target), transition_matrix(kernel, target)
    energy, spectrum = target.log_prob(target.space.states()).double(), chain_spectrum(matrix, pi)
    centred = energy - pi @ energy
    variance, moved, finite = float(pi @ centred.square()), centred, -1.0
    for lag in range(steps):
        finite += 2.0 * (1.0 - lag / steps) * float(pi @ (centred * moved)) / variance
        moved = matrix @ moved
    generator = torch.Generator().manual_seed(4)
    start = torch.multinomial(pi, n, replacement=True, generator=generator)
    state, total = kernel.init(target, target.space.states()[start], ONE), torch.zeros(n).double()
    first, second = spectrum.slowest[start], 1.0 - spectrum.gap
    for lag in range(1, steps + 1):
        state, _ = kernel.step(target, state, ONE, generator)
        total += state.log_prob
        if lag in (1, 5, 12):
            now = spectrum.slowest[state.theta[:, 0].long()]
            assert abs(float((first * now).mean()) - second**lag) <= 5 / math.sqrt(n)
    measured = steps * float((total / steps).var()) / variance
    assert measured == pytest.approx(finite, rel=0.05)
    assert autocorrelation_time(matrix, pi, energy) == pytest.approx(finite, rel=0.1)


def test_a_systematic_scan_has_the_spectrum_of_its_cycle() -> None:
    target, kernel = random_target(Ordinal(2, 3), roughness=2.0), Gibbs("systematic")
    steps = [transition_matrix(kernel, target, aux={"position": torch.tensor(k)}) for k in (0, 1)]
    pi = tempered_probabilities(target)
    found = chain_spectrum(reduce(torch.matmul, steps), pi)
    assert not found.reversible
    # Two conditional draws in turn: the squared correlation of the two-block Gibbs sampler.
    table = pi.reshape(3, 3)
    correlation = torch.linalg.svdvals(table / torch.sqrt(torch.outer(table.sum(1), table.sum(0))))[1]
    assert found.second_modulus == pytest.approx(float(correlation) ** 2, abs=1e-12)


def test_tempering_widens_the_gap_of_a_bimodal_target() -> None:
    target = TwoHills(0.45)
    alone = chain_spectrum(transition_matrix(RandomWalk(1), target), tempered_probabilities(target))
    tempered = ParallelTempering(RandomWalk(1), [1.0, 0.1], swap=Swaps(pairing="sequential"))
    found = chain_spectrum(tempering_matrix(tempered, target), product_distribution(target, [1.0, 0.1]))
    assert found.gap > 2 * alone.gap
    assert not found.reversible  # local moves, then swaps
