"""Generators of LD, ReLD and mReLD: stationary distribution, known gaps, anchors of the experiments."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from metrics.diffusion.generator_gap import (
    SeparableSolver,
    factorised_inverse_gap,
    preconditioned_inverse_gap,
)
from metrics.diffusion.langevin_gap import extrapolated, inverse_gap, langevin, reld
from metrics.diffusion.langevin_generator import (
    GIB,
    Grid,
    Level,
    grid_bytes,
    joined_replicas,
    log_density,
    replica,
    require_grid_fits,
)
from metrics.diffusion.line_gap import line_inverse_gap
from metrics.diffusion.reld_theory import mreld_choice, proposition_1, small_epsilon_limit
from metrics.diffusion.reversible_generator import ReversibleGenerator
from targets import Binary, Real, Target
from tests.support.targets.small_targets import random_target


class Modes(Target):
    """Equal Gaussians of width `epsilon` at `places` on the first axis."""

    def __init__(self, epsilon: float, places: tuple[float, ...] = (-1.0, 1.0), d: int = 1) -> None:
        super().__init__()
        self.space = Real(d)
        self.epsilon, self.places = epsilon, places

    def log_prob(self, theta: Tensor) -> Tensor:
        rest = theta[..., 1:].square().sum(-1)
        terms = [-((theta[..., 0] - m).square() + rest) / (2 * self.epsilon**2) for m in self.places]
        return torch.stack(terms).logsumexp(0)


LEVELS = {
    "ld": langevin(),
    "reld": reld(3.0),
    "tempered": reld(3.0, "tempered", 0.8),
    "mreld": mreld_choice("geometric", 0.4, 1, 2).levels,
}


def chain(target: Target, levels: tuple[Level, ...], rho: float, grid: Grid) -> ReversibleGenerator:
    U = log_density(target, grid)
    return joined_replicas([replica(U, level, grid) for level in levels], rho)


def dense_inverse_gap(generator: ReversibleGenerator) -> float:
    """By all eigenvalues of the generator's symmetric form, in float64."""
    return float(1.0 / np.linalg.eigvalsh(generator.symmetric().toarray())[1])


@pytest.mark.parametrize(("name", "d"), [("ld", 1), ("ld", 2), ("reld", 1), ("tempered", 1), ("mreld", 1)])
def test_the_distribution_is_stationary_and_in_detailed_balance(name: str, d: int) -> None:
    generator = chain(Modes(0.4, d=d), LEVELS[name], 2.0, Grid(13, 2.0, d))
    pi, Q = np.exp(generator.log_pi), generator.matrix()
    assert pi.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.abs(pi @ Q).max() <= 1e-12
    flow = Q.toarray() * pi[:, None]
    assert np.abs(flow - flow.T).max() <= 1e-13
    assert np.abs(Q.sum(axis=1)).max() <= 1e-9  # of rates up to 1e4
    assert np.abs(generator.symmetric() @ generator.root()).max() <= 1e-9


@pytest.mark.parametrize("d", [1, 2])
def test_rates_are_those_of_the_papers(d: int) -> None:
    """Every rate of a small ReLD, entry by entry from the definitions."""
    target, grid = Modes(0.6, d=d), Grid(4, 1.5, d)
    tau, rho, scale = 2.5, 1.7, 0.9
    generator = chain(target, reld(tau, "tempered", scale), rho, grid)
    cells, U = grid.cells(), log_density(target, grid)
    cold = np.exp(U) / np.exp(U).sum()
    hot = np.exp(U / tau - (cells**2).sum(-1) / (2 * scale**2))
    hot = hot / hot.sum()
    Q = generator.matrix().toarray()
    pairs = list(itertools.product(range(len(cells)), repeat=2))
    expected = np.zeros_like(Q)
    distance = np.abs(cells[:, None] - cells).sum(-1)
    for (i, (x, y)), (j, (z, w)) in itertools.product(enumerate(pairs), repeat=2):
        step = abs(distance[x, z] + distance[y, w] - grid.spacing) < 1e-9
        if step and y == w:
            expected[i, j] = np.sqrt(cold[z] / cold[x]) / grid.spacing**2
        elif step and x == z:
            expected[i, j] = tau * np.sqrt(hot[w] / hot[y]) / grid.spacing**2
        elif (x, y) == (w, z) and x != y:
            expected[i, j] = rho * min(1.0, cold[y] * hot[x] / (cold[x] * hot[y]))
    np.fill_diagonal(expected, -expected.sum(1))
    assert np.allclose(Q, expected, rtol=1e-10, atol=1e-12)
    pi = np.outer(cold, hot).ravel()
    assert np.allclose(np.exp(generator.log_pi), pi, rtol=1e-12, atol=0)


def test_three_replicas_swap_with_their_neighbours_alone() -> None:
    target, grid = Modes(0.7), Grid(4, 1.5, 1)
    levels = (Level(), Level(0.5, 2.0), Level(0.2, 3.0, 1.0))
    with_swaps = chain(target, levels, 1.3, grid).jump_rates().toarray()
    without = chain(target, levels, 0.0, grid).jump_rates().toarray()
    swaps = with_swaps - without
    U, x = log_density(target, grid), grid.cells()[:, 0]
    logs = [level.beta * U - x**2 / (2 * level.scale**2) for level in levels]
    states = list(itertools.product(range(4), repeat=3))
    for (i, a), (j, b) in itertools.product(enumerate(states), repeat=2):
        expected = 0.0
        for k in (0, 1):
            moved = list(a)
            moved[k], moved[k + 1] = a[k + 1], a[k]
            if a != b and tuple(moved) == b:
                ratio = logs[k][b[k]] + logs[k + 1][b[k + 1]] - logs[k][a[k]] - logs[k + 1][a[k + 1]]
                expected = 1.3 * math.exp(min(0.0, ratio))
        assert swaps[i, j] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("d", [1, 2])
def test_ornstein_uhlenbeck(d: int) -> None:
    """LD on N(0, s^2 I) has inverse gap s^2 (ReLD, Proposition 1: equality)."""
    for s in (1.0, 0.4):
        found = inverse_gap(Modes(s, (0.0,), d), langevin(), 1.0, 81, 7 * s)
        assert abs(found.kappa - s**2) <= min(0.01 * s**2, found.error)
        assert abs(found.fine - s**2) <= 0.01 * s**2
    # Two processes with inverse gaps 1 and M^2 / tau = 0.5 that hardly swap have the slower one's.
    if d == 1:
        found = inverse_gap(Modes(1.0, (0.0,)), reld(0.72, scale=0.6), 1e-9, 61, 6.0)
        assert found.kappa == pytest.approx(1.0, rel=2e-3)
    level = (Level(beta=0.5, tau=3.0),)
    found = inverse_gap(Modes(0.4, (0.0,), d), level, 1.0, 81, 4.0)
    assert found.kappa == pytest.approx(0.16 / 0.5 / 3.0, rel=2e-3)


@pytest.mark.parametrize("name", ["reld", "tempered", "mreld"])
def test_the_iterative_gap_is_the_dense_one(name: str) -> None:
    grid, rho = Grid(11 if name == "mreld" else 31, 2.0, 1), 1.5
    U = log_density(Modes(0.4), grid)
    replicas = [replica(U, level, grid) for level in LEVELS[name]]
    generator = joined_replicas(replicas, rho)
    exact = dense_inverse_gap(generator)
    solver = SeparableSolver([one.chain.symmetric().toarray() for one in replicas], rho)
    assert preconditioned_inverse_gap(generator, solver) == pytest.approx(exact, rel=1e-7)
    assert factorised_inverse_gap(generator) == pytest.approx(exact, rel=1e-7)


def test_the_preconditioner_is_the_inverse_where_nothing_swaps() -> None:
    grid = Grid(9, 2.0, 1)
    U = log_density(Modes(0.5), grid)
    replicas = [replica(U, level, grid) for level in LEVELS["mreld"]]
    matrix = joined_replicas(replicas, 0.0).symmetric().toarray() + 0.7 * np.eye(9**3)
    solver = SeparableSolver([one.chain.symmetric().toarray() for one in replicas], 0.7)
    vectors = np.random.default_rng(0).standard_normal((9**3, 2))
    assert np.allclose(solver(matrix @ vectors), vectors, atol=1e-9)
    assert np.allclose(solver(matrix @ vectors[:, 0]), vectors[:, 0], atol=1e-9)


def test_the_line_formula_is_the_dense_gap_and_goes_beyond_float64s_eigenvalues() -> None:
    generator = np.random.default_rng(0)
    for size in (3, 4, 30):
        log_pi, log_edges = generator.normal(size=size), generator.normal(size=size - 1)
        log_pi = log_pi - np.logaddexp.reduce(log_pi)
        edges = np.diag(np.exp(log_edges), 1)
        exact = dense_inverse_gap(ReversibleGenerator(log_pi, sparse.csr_matrix(edges + edges.T)))
        assert line_inverse_gap(log_pi, log_edges) == pytest.approx(exact, rel=1e-9)
    # Two pairs of even states with a bottleneck of rate b between them: kappa -> (1 / 4) / (b / 4) as b -> 0.
    for b in (1e-10, 1e-30, 1e-200):
        pi, weights = np.log(np.full(4, 0.25)), np.log(np.array([1.0, b, 1.0]))
        assert line_inverse_gap(pi, weights) == pytest.approx(1.0 / b, rel=10 * b + 1e-9)
    with pytest.raises(ValueError, match="beyond float64"):
        line_inverse_gap(np.array([0.0, 0.0, -1300.0, 0.0, 0.0]), np.zeros(4))


@pytest.mark.parametrize("epsilon", [0.15, 0.1, 0.07])
def test_a_high_barrier_follows_its_asymptotic(epsilon: float) -> None:
    """Two modes at +-1: kappa -> (1/4) int dx / pi(x) = sqrt(2 pi) pi eps^3 exp(1 / (2 eps^2)) / 4."""
    expected = math.sqrt(2 * math.pi) * math.pi / 4 * epsilon**3 * math.exp(1 / (2 * epsilon**2))
    found = inverse_gap(Modes(epsilon), langevin(), 1.0, 2001, 3.0)
    # The correction is of the order of epsilon squared.
    assert found.kappa == pytest.approx(expected, rel=2 * epsilon**2)


def test_two_dimensions_have_the_gap_of_one_where_the_target_is_a_product() -> None:
    one = inverse_gap(Modes(0.3), langevin(), 1.0, 401, 3.0)
    two = inverse_gap(Modes(0.3, d=2), langevin(), 1.0, 121, 3.0)
    assert two.kappa == pytest.approx(one.kappa, rel=3e-3)
    assert abs(two.kappa - one.kappa) <= two.error


ANCHORS = [
    (0.5, (2.10, 1.01, 0.633, 1.00, 1.48)),
    (0.3, (15.8, 1.09, 0.347, 1.07, 3.15)),
    (0.2, (4.46e3, 1.00, 0.202, 1.02, 4.96)),
    (0.1, (1e19, 0.83, 0.084, 1.78, 8.28)),
]
"""Of part G: LD; phi with tau = rho = 1 / eps, and 1 / eps^2; pi^(1 / tau) phi with 1 / eps; phi with 1."""


@pytest.mark.parametrize(("epsilon", "anchors"), ANCHORS)
def test_anchors_of_reld(epsilon: float, anchors: tuple[float, ...]) -> None:
    target, inverse = Modes(epsilon), 1 / epsilon
    cases = [
        (langevin(), 1.0),
        (reld(inverse), inverse),
        (reld(inverse**2), inverse**2),
        (reld(inverse, "tempered"), inverse),
        (reld(1.0), 1.0),
    ]
    for (levels, rho), anchor in zip(cases, anchors, strict=True):
        points = 1601 if len(levels) == 1 else 121
        found = inverse_gap(target, levels, rho, points, 4.0)
        assert found.kappa == pytest.approx(anchor, rel=0.04 if anchor == 1e19 else 0.02)
        assert found.error <= 0.05 * found.kappa


@pytest.mark.parametrize(("epsilon", "levels", "anchor"), [(0.4, 1, 1.00), (0.4, 2, 1.49), (0.3, 2, 1.81)])
def test_anchors_of_mreld(epsilon: float, levels: int, anchor: float) -> None:
    choice = mreld_choice("geometric", epsilon, 1, levels)
    found = inverse_gap(Modes(epsilon), choice.levels, choice.rho, 37, 4.0)
    assert found.kappa == pytest.approx(anchor, rel=0.02)


def test_gaps_of_the_choices_of_corollary_2() -> None:
    first = mreld_choice("geometric", 0.5, 3, 2, 4.0, alpha=0.5)
    assert [level.beta for level in first.levels] == pytest.approx([1.0, 0.5, 0.25])
    assert [level.tau for level in first.levels[1:]] == pytest.approx([2.0**2.5] * 2)
    assert first.rho == pytest.approx(2.0**2.5)
    assert first.exponent == 1.0
    assert [level.scale for level in first.levels] == [math.inf, math.inf, 4.0]
    second = mreld_choice("synchronised", 0.5, 2, 2)
    assert [level.tau for level in second.levels] == pytest.approx([1.0, 2.0, 4.0])
    assert all(level.tau * level.beta == pytest.approx(1.0) for level in second.levels)
    assert (second.rho, second.exponent) == (pytest.approx(2.0), 0.0)
    third = mreld_choice("log_geometric", 0.5, 4, 2)
    assert [level.tau for level in third.levels] == pytest.approx([1.0, 2.0, 4.0])
    assert (third.rho, third.exponent) == (4.0, -2.0)


@pytest.mark.parametrize("scenario", ["geometric", "synchronised", "log_geometric"])
@pytest.mark.parametrize("extra", [1, 2, 3])
def test_choices_meet_the_condition_of_their_proof(scenario: str, extra: int) -> None:
    """(C.2): tau_k >= l^(-e) (beta_(k-1) / beta_k)^(d / 2), with kappa = O(l^e)."""
    d, length = (3 if scenario == "log_geometric" else 2), 0.1
    for alpha in (0.0, 0.5, 1.0) if scenario == "geometric" else (0.0,):
        choice = mreld_choice(scenario, length, d, extra, alpha=alpha)
        for below, here in itertools.pairwise(choice.levels):
            needed = length**-choice.exponent * (below.beta / here.beta) ** (d / 2)
            assert here.tau >= needed * (1 - 1e-12)
            assert choice.rho >= needed * (1 - 1e-12)


COIN = random_target(Binary(1))
REFUSED = [
    ({"target": COIN, "levels": reld(2.0)}, "needs a target on Real"),
    ({"points": 8}, "grid must be a whole number of at least 9, 8 was given"),
    ({"box": 0.0}, "box must be a positive number, 0.0 was given"),
    ({"rho": 0.0, "levels": reld(1.0)}, "rho must be a positive number, 0.0 was given"),
    ({"target": Modes(0.5, d=3)}, "a grid needs a target in one or two dimensions, this one has 3"),
    ({"negligible": 0.1}, "negligible must be a number between 0 and 1e-06, 0.1 was given"),
    ({"memory": -1}, "memory must be a positive number, -1 was given"),
]


@pytest.mark.parametrize(("given", "sentence"), REFUSED)
def test_bad_settings_are_refused(given: dict[str, object], sentence: str) -> None:
    usual = {"target": Modes(0.5), "levels": langevin(), "rho": 1.0, "points": 41, "box": 3.0}
    with pytest.raises(ValueError, match=sentence):
        inverse_gap(**(usual | given))  # type: ignore[arg-type]


def test_a_grid_that_does_not_fit_is_refused_with_one_that_does() -> None:
    target, levels = Modes(0.5, d=2), reld(4.0)
    sentence = r"grid=101 points an axis need about .* GiB, more than memory=1; grid="
    with pytest.raises(ValueError, match=sentence) as refused:
        inverse_gap(target, levels, 4.0, 101, 3.0, memory=1)
    fits = int(str(refused.value).split("grid=")[2].split()[0])
    assert 20 < fits < 40
    # The number named does fit, and the next one does not.
    need = {n: grid_bytes([n**2, n**2], 2) for n in (fits, fits + 1)}
    require_grid_fits(50, lambda n: n * GIB, 50.0)
    with pytest.raises(ValueError, match="grid=49 would fit"):
        require_grid_fits(50, lambda n: n * GIB, 49.5)
    assert need[fits] < 1.1 * GIB


@pytest.mark.parametrize(
    ("compute", "words"),
    [
        (lambda: log_density(Modes(0.5), Grid(9, 2.0, 2)), r"needs a target on Real\(2\)"),
        (lambda: narrow(0.05, 1.5), "fall into 2 disconnected parts"),
        (lambda: narrow(0.12, 1.7), "beyond float64"),
        # The factorisation has lost all digits, and the slowest mode's eigenvalue may have any sign.
        (lambda: narrow(0.11, 1.7), "beyond float64"),
        (lambda: mreld_choice("quadratic", 0.5, 1, 1), "choice must be one of"),
        (lambda: mreld_choice("synchronised", 0.5, 3, 1), "dimensions of at most 2, 3 was given"),
        (lambda: mreld_choice("log_geometric", 0.5, 2, 1), "dimensions of at least 3, 2 was given"),
        (lambda: mreld_choice("geometric", 1.0, 1, 1), "length must be a number between 0 and 1"),
        (lambda: mreld_choice("geometric", 0.5, 1, 1, alpha=1.5), "alpha must be a number from 0 to 1"),
        (lambda: reld(1.0, "normal"), "reference must be one of phi, tempered"),
        (lambda: line_inverse_gap(np.zeros(2), np.zeros(1)), "at least three states with mass, 2 have any"),
    ],
)
def test_what_cannot_be_computed_is_refused(compute: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        compute()


def narrow(epsilon: float, box: float) -> object:
    return inverse_gap(Modes(epsilon, d=2), langevin(), 1.0, 61, box)


def test_a_grid_that_does_not_resolve_the_target_is_refused() -> None:
    words = r"^grid=161 points do not resolve the target: kappa is 1\.9e\+80 on this grid and 2\.4e\+78 on"
    with pytest.raises(ValueError, match=words):
        inverse_gap(Modes(0.05), langevin(), 0.0, 161, 4.0)


def test_far_from_second_order_the_error_is_no_extrapolation() -> None:
    exact = inverse_gap(Modes(0.05), langevin(), 0.0, 12801, 4.0).kappa
    found = inverse_gap(Modes(0.05), langevin(), 0.0, 401, 4.0)
    assert found.fine > 1.25 * found.coarse
    assert found.error > abs(found.kappa - exact)
    # Replica exchange is faster on a coarse grid or slower: kappa is positive either way.
    kappa, error = extrapolated(1.0, 3.0, 2.25, 9)
    assert 0 < kappa < 1
    assert error == pytest.approx(2.0 * kappa)


def test_bounds_and_asymptotics_on_two_modes() -> None:
    """The printed formulas, and kappa itself between them: (1/4) int dx / pi(x) on a fine grid."""
    bound = math.log(0.1**4 / (80 * 4)) + 4 / (64 * 0.1**2)
    assert proposition_1(0.1) == pytest.approx(bound)
    assert proposition_1(0.125) <= small_epsilon_limit(0.125)
    kappa = inverse_gap(Modes(0.1), langevin(), 1.0, 2001, 3.0).kappa
    assert small_epsilon_limit(0.1) == pytest.approx(math.log(kappa), abs=0.02)
    distant = inverse_gap(Modes(0.15, (-1.5, 1.5)), langevin(), 1.0, 2001, 4.0).kappa
    assert small_epsilon_limit(0.15, 3.0) == pytest.approx(math.log(distant), abs=0.03)
    with pytest.raises(ValueError, match="Proposition 1 needs a length of at most"):
        proposition_1(0.2)


def test_a_restricted_generator_has_the_restricted_gap() -> None:
    """One mode of two: STMH's gap on it is that of its own process over the mass it holds."""
    generator = chain(Modes(0.3), langevin(), 1.0, Grid(61, 3.0, 1))
    kept: NDArray[np.bool_] = np.arange(generator.size) >= generator.size // 2
    part, mass = generator.restricted(kept)
    pi, Q = np.exp(part.log_pi), part.matrix()
    assert pi.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.abs(pi @ Q).max() <= 1e-12
    assert 0.5 < mass < 0.52
    whole = generator.matrix()[kept][:, kept].toarray()
    inside = Q.toarray()
    off = ~np.eye(part.size, dtype=bool)
    assert np.allclose(inside[off], whole[off], rtol=1e-10)
    assert factorised_inverse_gap(part) < 0.02 * factorised_inverse_gap(generator)
