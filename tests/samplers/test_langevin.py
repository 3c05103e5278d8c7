"""The discrete Langevin proposal against an independent NumPy enumeration, dense and tabulated."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from metrics.enumeration.transition_matrix import transition_matrix
from samplers.discrete.dmala import DMALA
from samplers.discrete.dula import DULA
from samplers.kernel import State
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.proposals.draws import draw_level
from samplers.proposals.tabulated_langevin import TabulatedLangevin, tabulated
from samplers.tuning.configured import configured
from targets.spaces import Discrete, Ordinal, Space
from targets.target import Target
from tests.support.checks import dkw_band, largest_gap, sampled_rows
from tests.support.small_targets import SPACES, random_target

ONE = torch.ones((), dtype=torch.float64)


def listed(target: Target) -> State:
    assert isinstance(target.space, Discrete)
    return State(target.space.states(), *target.log_prob_and_grad(target.space.states()))


def enumerated(
    space: Discrete, state: State, beta: float, alpha: float, balancing: float, norm: float
) -> np.ndarray:
    """q(y | x) of all pairs straight from the formula: no factorisation over coordinates, no tricks."""
    theta, grad = state.theta.numpy(), state.grad.numpy()  # type: ignore[union-attr]
    size = len(theta)
    log_q = np.empty((size, size))
    for x, y in itertools.product(range(size), repeat=2):
        move = theta[y] - theta[x]
        cost = (np.abs(move) ** norm).sum()
        log_q[x, y] = balancing * beta * (grad[x] * move).sum() - cost / (2 * alpha)
    q = np.exp(log_q - log_q.max(1, keepdims=True))
    return q / q.sum(1, keepdims=True)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(("balancing", "norm"), [(0.5, 2.0), (0.8, 2.0), (0.5, 1.0), (0.5, 3.0)])
def test_log_prob_is_the_formula(space: str, balancing: float, norm: float) -> None:
    target = random_target(SPACES[space], seed=1)
    state = listed(target)
    for beta, alpha in itertools.product((1.0, 0.3), (0.1, 1.0, 20.0)):
        matrix = transition_matrix(DULA(alpha, balancing, norm), target, beta).numpy()
        expected = enumerated(SPACES[space], state, beta, alpha, balancing, norm)
        np.testing.assert_allclose(matrix, expected, atol=1e-12)


@pytest.mark.parametrize("space", SPACES)
def test_propose_returns_the_log_prob_of_what_it_proposes(space: str) -> None:
    target = random_target(SPACES[space], seed=1)
    state = listed(target)
    proposal = LangevinProposal(ONE)
    drawn, log_q = proposal.propose(target.space, state, ONE, torch.Generator().manual_seed(0))
    torch.testing.assert_close(log_q, proposal.log_prob(target.space, state, drawn, ONE))


def test_extreme_gradients_stay_finite() -> None:
    space = SPACES["binary"]
    states = space.states(torch.float32)
    state = State(states, torch.zeros(8), torch.full_like(states, 1e4))
    proposal = LangevinProposal(torch.tensor(0.2))
    drawn, log_q = proposal.propose(space, state, torch.ones(()), torch.Generator().manual_seed(0))
    assert log_q.isfinite().all()
    assert (
        proposal.log_prob(space, State(drawn, torch.zeros(8), state.grad), states, ONE.float())
        .isfinite()
        .all()
    )


def test_levels_without_weight_are_never_drawn() -> None:
    weights = torch.tensor([0.0, 1.0, 0.0, 1e-30, 0.0]).expand(100_000, 1, 5)
    level, total = draw_level(weights, torch.Generator().manual_seed(0))
    assert set(level.unique().tolist()) <= {1, 3}
    assert (total == 1.0).all()


@pytest.mark.parametrize("norm", [2.0, 1.0])
def test_tables_hold_the_same_law_as_the_formula(norm: float) -> None:
    target = random_target(SPACES["ordinal"], seed=1)
    betas = torch.tensor([1.0, 0.4, 0.0], dtype=torch.float64).reshape(3, 1, 1)
    alphas = torch.tensor([0.5, 2.0, 30.0], dtype=torch.float64).reshape(3, 1, 1)
    dense = LangevinProposal(alphas, norm=norm)
    table = tabulated(dense, target, betas)
    assert isinstance(table, TabulatedLangevin)
    states = target.space.states().expand(3, 1, 25, 2)
    state = State(states, *target.log_prob_and_grad(states))
    generator = torch.Generator().manual_seed(0)
    drawn, log_q = table.propose(target.space, state, betas, generator)
    torch.testing.assert_close(log_q, dense.log_prob(target.space, state, drawn, betas))
    torch.testing.assert_close(
        table.log_prob(target.space, state, drawn, betas), dense.log_prob(target.space, state, drawn, betas)
    )
    same = dense.propose(target.space, state, betas, torch.Generator().manual_seed(0))[0]
    assert torch.equal(drawn, same)


def test_a_prepared_kernel_draws_from_the_enumerated_rows() -> None:
    target = random_target(SPACES["ordinal"], seed=1)
    kernel = DMALA(1.0)
    prepared = kernel.prepared(target, ONE)
    assert prepared is not kernel
    matrix = transition_matrix(kernel, target)
    torch.testing.assert_close(transition_matrix(prepared, target), matrix)
    draws = 100_000
    assert largest_gap(sampled_rows(prepared, target, 1.0, draws), matrix) <= dkw_band(draws, len(matrix))


def test_only_small_ordinal_targets_are_tabulated() -> None:
    kernel = DMALA(1.0)
    assert kernel.prepared(random_target(SPACES["binary"]), ONE) is kernel
    assert kernel.prepared(random_target(SPACES["categorical"]), ONE) is kernel


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"step_size": 0}, "step_size must be a positive number or 'auto', 0 was given"),
        ({"step_size": -1.0}, "positive"),
        ({"step_size": float("nan")}, "positive"),
        ({"step_size": float("inf")}, "positive"),
        ({"step_size": "large"}, "'large'"),
        ({"step_size": True}, "positive"),
        ({"balancing": 1.5}, "balancing must be a number from 0 to 1"),
        ({"norm": 0.5}, "norm must be a number from 1 to 8"),
        ({"acceptance": 1.0}, "acceptance"),
    ],
)
@pytest.mark.parametrize("kernel", [DMALA, DULA])
def test_bad_hyperparameters_are_refused(
    kernel: type[DMALA] | type[DULA], arguments: dict[str, object], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        configured(kernel, **arguments)


class Lenient(DMALA):
    """A user's kernel with an acceptance of its own."""

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: torch.Tensor, forward: torch.Tensor
    ) -> torch.Tensor:
        return torch.zeros_like(forward)


def test_preparing_never_replaces_a_subclass_of_ones_own() -> None:
    kernel = Lenient(1.0)
    assert kernel.prepared(random_target(SPACES["ordinal"]), ONE) is kernel


@pytest.mark.parametrize(("kernel", "exact"), [(DMALA(1.0), True), (DULA(1.0), False)])
def test_tables_claim_what_the_kernel_claims(kernel: DMALA, exact: bool) -> None:
    target = random_target(Ordinal(2, 4), seed=2)
    tables = kernel.prepared(target, ONE)
    assert tables is not kernel
    assert tables.exact is kernel.exact is exact
