"""Spectral gaps, restricted gaps and mixing times of transition matrices, by hand and by brute force."""

from __future__ import annotations

import math
from functools import reduce

import pytest
import torch
from torch import Tensor

from metrics.enumeration.convergence import chain_spectrum, mixing_time, restricted_gap, worst_distance
from metrics.enumeration.tempered_transition import product_distribution, tempering_matrix
from metrics.enumeration.transition_matrix import stationary, tempered_probabilities, transition_matrix
from samplers.discrete.gibbs import Gibbs
from samplers.discrete.random_walk import RandomWalk
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.swaps.swap_round import Swaps
from targets.spaces import Ordinal
from targets.target import Target

THREE = torch.tensor([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]], dtype=torch.float64)
LAW = torch.tensor([0.25, 0.5, 0.25], dtype=torch.float64)
"""Eigenvalues 1, 1/2, 0; eigenfunctions (1, 0, -1) and (1, -1, 1)."""

TURN = torch.tensor([[0.1, 0.9, 0.0], [0.0, 0.1, 0.9], [0.9, 0.0, 0.1]], dtype=torch.float64)
EVEN = torch.full((3,), 1 / 3, dtype=torch.float64)
"""A rotation: eigenvalues 0.1 + 0.9 w with w^3 = 1."""


class TwoHills(Target):
    """Six levels, with modes at both ends."""

    def __init__(self) -> None:
        super().__init__()
        self.space = Ordinal(1, 6)

    def log_prob(self, theta: Tensor) -> Tensor:
        return 0.45 * (theta[..., 0] - 2.5).square()


def random_chain(size: int, seed: int) -> tuple[Tensor, Tensor]:
    """An irreducible chain that is not reversible, and its law."""
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


def test_three_states_by_hand() -> None:
    found = chain_spectrum(THREE, LAW)
    assert found.reversible
    assert found.gap == pytest.approx(0.5, abs=1e-14)
    assert found.inverse_gap == pytest.approx(2.0, abs=1e-13)
    assert found.second_modulus == pytest.approx(0.5, abs=1e-14)
    assert found.contraction == pytest.approx(0.5, abs=1e-14)
    assert found.relaxation_time == pytest.approx(1 / math.log(2), abs=1e-13)
    slowest = found.slowest * found.slowest[0].sign()
    assert torch.allclose(slowest, torch.tensor([1.0, 0.0, -1.0], dtype=torch.float64) * math.sqrt(2))


def test_a_negative_eigenvalue_counts_for_the_modulus_and_not_for_the_gap() -> None:
    # Eigenvalues 1 and -0.8.
    flip = torch.tensor([[0.1, 0.9], [0.9, 0.1]], dtype=torch.float64)
    found = chain_spectrum(flip, torch.tensor([0.5, 0.5], dtype=torch.float64))
    assert found.gap == pytest.approx(1.8, abs=1e-14)
    assert found.second_modulus == pytest.approx(0.8, abs=1e-14)


def test_a_rotation_has_the_gap_of_its_reversibilisation() -> None:
    found = chain_spectrum(TURN, EVEN)
    assert not found.reversible
    # (P + P*) / 2 has the eigenvalues 0.1 + 0.9 Re w; P itself their moduli, and it is normal.
    assert found.gap == pytest.approx(1.0 - (0.1 - 0.45), abs=1e-13)
    modulus = abs(0.1 + 0.9 * complex(math.cos(2 * math.pi / 3), math.sin(2 * math.pi / 3)))
    assert found.second_modulus == pytest.approx(modulus, abs=1e-13)
    assert found.contraction == pytest.approx(modulus, abs=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_the_gap_is_the_smallest_dirichlet_form_over_variance(seed: int) -> None:
    for matrix, pi in (random_chain(7, seed), reversible_chain(7, seed)):
        found = chain_spectrum(matrix, pi)

        def quotient(f: Tensor, matrix: Tensor = matrix, pi: Tensor = pi) -> float:
            square = (f.unsqueeze(-1) - f).square()
            form = 0.5 * (pi.unsqueeze(-1) * matrix * square).sum()
            return float(form / (0.5 * (torch.outer(pi, pi) * square).sum()))

        assert quotient(found.slowest) == pytest.approx(found.gap, abs=1e-12)
        generator = torch.Generator().manual_seed(seed)
        for _ in range(200):
            other = torch.randn(7, generator=generator, dtype=torch.float64)
            assert quotient(other) >= found.gap - 1e-12
        assert float(pi @ found.slowest) == pytest.approx(0.0, abs=1e-12)
        assert float(pi @ found.slowest.square()) == pytest.approx(1.0, abs=1e-12)


def test_pieces_and_periods_have_no_gap_or_no_contraction() -> None:
    pieces = torch.block_diag(THREE, THREE)
    apart = chain_spectrum(pieces, torch.cat([LAW, LAW]) / 2)
    assert apart.gap == 0.0
    assert apart.inverse_gap == math.inf
    assert apart.second_modulus == 1.0
    assert mixing_time(pieces, torch.cat([LAW, LAW]) / 2) == math.inf
    swap = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    periodic = chain_spectrum(swap, torch.full((2,), 0.5, dtype=torch.float64))
    assert periodic.gap == pytest.approx(2.0)
    assert periodic.second_modulus == 1.0
    assert periodic.relaxation_time == math.inf


def test_a_law_that_is_not_stationary_is_refused() -> None:
    with pytest.raises(ValueError, match="not stationary"):
        chain_spectrum(THREE, EVEN)
    with pytest.raises(ValueError, match="positive at every state"):
        chain_spectrum(THREE, torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64))


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
    for matrix, pi in (random_chain(6, seed), reversible_chain(30, seed), (THREE, LAW)):
        for threshold in (0.25, 0.01):
            power, steps = torch.eye(len(pi), dtype=torch.float64), 0
            while worst_distance(power, pi) > threshold:
                power, steps = power @ matrix, steps + 1
            assert mixing_time(matrix, pi, threshold) == steps
            bound = chain_spectrum(matrix, pi).mixing_time_bound(float(pi.min()), threshold)
            assert steps <= math.ceil(bound)


def test_a_slow_chain_mixes_after_millions_of_steps() -> None:
    # Two states that swap with probability a: TV after t steps is (1 - 2 a)^t / 2.
    a = 1e-8
    matrix = torch.tensor([[1 - a, a], [a, 1 - a]], dtype=torch.float64)
    pi = torch.full((2,), 0.5, dtype=torch.float64)
    assert mixing_time(matrix, pi) == pytest.approx(math.log(2) / (2 * a), rel=1e-6)
    assert chain_spectrum(matrix, pi).inverse_gap == pytest.approx(1 / (2 * a), rel=1e-6)


def test_autocorrelation_of_a_simulated_chain_decays_with_the_gap() -> None:
    """The slowest function of 200,000 stationary chains: lag-t correlation lambda_2^t.

    The standard error of a correlation is at most 1 / sqrt(n) = 0.00224; five of them are allowed at each of
    three lags: false alarms below 2e-6.
    """
    target, kernel, n = TwoHills(), RandomWalk(1), 200_000
    pi = tempered_probabilities(target)
    found = chain_spectrum(transition_matrix(kernel, target), pi)
    generator = torch.Generator().manual_seed(11)
    start = torch.multinomial(pi, n, replacement=True, generator=generator)
    one = torch.ones((), dtype=torch.float64)
    state = kernel.init(target, target.space.states()[start], one)
    first, second = found.slowest[start], 1.0 - found.gap
    assert second > 0.9
    for lag in range(1, 13):
        state, _ = kernel.step(target, state, one, generator)
        if lag in (1, 5, 12):
            now = found.slowest[state.theta[:, 0].long()]
            assert abs(float((first * now).mean()) - second**lag) <= 5 / math.sqrt(n)


def test_a_systematic_scan_has_the_spectrum_of_its_cycle() -> None:
    class Pair(Target):
        def __init__(self) -> None:
            super().__init__()
            self.space = Ordinal(2, 3)

        def log_prob(self, theta: Tensor) -> Tensor:
            return 0.7 * theta[..., 0] * theta[..., 1] - theta[..., 0]

    target, kernel = Pair(), Gibbs("systematic")
    steps = [transition_matrix(kernel, target, aux={"position": torch.tensor(k)}) for k in (0, 1)]
    pi = tempered_probabilities(target)
    found = chain_spectrum(reduce(torch.matmul, steps), pi)
    assert not found.reversible
    # Two conditional draws in turn: the squared correlation of the two-block Gibbs sampler.
    table = pi.reshape(3, 3)
    rows, columns = table.sum(1), table.sum(0)
    correlation = torch.linalg.svdvals(table / torch.sqrt(torch.outer(rows, columns)))[1]
    assert found.second_modulus == pytest.approx(float(correlation) ** 2, abs=1e-12)


def test_tempering_widens_the_gap_of_a_bimodal_target() -> None:
    target = TwoHills()
    alone = chain_spectrum(transition_matrix(RandomWalk(1), target), tempered_probabilities(target))
    tempered = ParallelTempering(RandomWalk(1), [1.0, 0.1], swap=Swaps(pairing="sequential"))
    found = chain_spectrum(tempering_matrix(tempered, target), product_distribution(target, [1.0, 0.1]))
    assert found.gap > 2 * alone.gap
    assert not found.reversible  # local moves, then swaps
