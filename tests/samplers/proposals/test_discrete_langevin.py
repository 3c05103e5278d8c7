"""The discrete Langevin proposal against an independent NumPy enumeration, dense and tabulated."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
import torch

from metrics.enumeration.transition_matrix import transition_matrix
from samplers import (
    AB,
    ACS,
    DMALA,
    DULA,
    EDMALA,
    EDMALAGLU,
    DMALANewton,
    Info,
    Kernel,
    ParallelTempering,
    State,
)
from samplers.compiling.counter_streams import CounterStreams
from samplers.kernel import evaluate
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.proposals.draws.places import draw_level
from samplers.proposals.tabulated_langevin import TabulatedLangevin, tabulated
from targets import RBM, Binary, Discrete, MixtureOfGaussians, Space, Streams, Target
from targets.randomness import Generator
from tests.support.checks import dkw_band, largest_gap, sampled_rows
from tests.support.steps.stepping import ONE, seeded
from tests.support.targets.small_targets import SPACES, random_target, small_rbm


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
    state = evaluate(target, target.space.states(), gradient=True)
    for beta, alpha in itertools.product((1.0, 0.3), (0.1, 20.0)):
        matrix = transition_matrix(DULA(alpha, balancing, norm), target, beta).numpy()
        expected = enumerated(SPACES[space], state, beta, alpha, balancing, norm)
        np.testing.assert_allclose(matrix, expected, atol=1e-12)


@pytest.mark.parametrize("space", SPACES)
def test_propose_returns_the_log_prob_of_what_it_proposes(space: str) -> None:
    target = random_target(SPACES[space], seed=1)
    state = evaluate(target, target.space.states(), gradient=True)
    proposal = LangevinProposal(ONE)
    drawn, log_q = proposal.propose(target.space, state, ONE, seeded(0))
    torch.testing.assert_close(log_q, proposal.log_prob(target.space, state, drawn, ONE))


def test_extreme_gradients_stay_finite() -> None:
    space = SPACES["binary"]
    states = space.states(torch.float32)
    state = State(states, torch.zeros(8), torch.full_like(states, 1e4))
    proposal = LangevinProposal(torch.tensor(0.2))
    drawn, log_q = proposal.propose(space, state, torch.ones(()), seeded(0))
    assert log_q.isfinite().all()
    assert (
        proposal.log_prob(space, State(drawn, torch.zeros(8), state.grad), states, ONE.float())
        .isfinite()
        .all()
    )


def test_levels_without_weight_are_never_drawn() -> None:
    weights = torch.tensor([0.0, 1.0, 0.0, 1e-30, 0.0]).expand(100_000, 1, 5)
    level, total = draw_level(weights, seeded(0))
    assert set(level.unique().tolist()) <= {1, 3}
    assert (total == 1.0).all()


@pytest.mark.parametrize("norm", [2.0, 1.0])
def test_tables_hold_the_same_distribution_as_the_formula(norm: float) -> None:
    target = random_target(SPACES["ordinal"], seed=1)
    betas = torch.tensor([1.0, 0.4, 0.0], dtype=torch.float64).reshape(3, 1, 1)
    alphas = torch.tensor([0.5, 2.0, 30.0], dtype=torch.float64).reshape(3, 1, 1)
    dense = LangevinProposal(alphas, norm=norm)
    table = tabulated(dense, target, betas)
    assert isinstance(table, TabulatedLangevin)
    states = target.space.states().expand(3, 1, 25, 2)
    state = State(states, *target.log_prob_and_grad(states))
    generator = seeded(0)
    drawn, log_q = table.propose(target.space, state, betas, generator)
    torch.testing.assert_close(log_q, dense.log_prob(target.space, state, drawn, betas))
    torch.testing.assert_close(
        table.log_prob(target.space, state, drawn, betas), dense.log_prob(target.space, state, drawn, betas)
    )
    same = dense.propose(target.space, state, betas, seeded(0))[0]
    assert torch.equal(drawn, same)
    columns = table.alias.columns.reshape(3, 1, 25, 2, 5)
    share = (columns - columns.floor()) / 5
    found = share.scatter_add(-1, columns.long(), 0.2 - share)
    expected = dense._logits(target.space, state, dense.drift(state, betas)).softmax(-1)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_a_prepared_kernel_draws_from_the_enumerated_rows() -> None:
    target = random_target(SPACES["ordinal"], seed=1)
    kernel = DMALA(1.0)
    prepared = kernel.prepared(target, ONE)
    assert prepared is not kernel
    matrix = transition_matrix(kernel, target)
    torch.testing.assert_close(transition_matrix(prepared, target), matrix)
    draws, band = 30_000, dkw_band(30_000, len(matrix))
    assert largest_gap(sampled_rows(prepared, target, 1.0, draws), matrix) <= band
    assert largest_gap(sampled_rows(FromCounter(prepared), target, 1.0, draws), matrix) <= band


class FromCounter(Kernel):
    """The steps of `kernel` with random numbers as compiled ones have them."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.streams = kernel, CounterStreams([0], "chain")

    def init(self, target: Target, theta: torch.Tensor, beta: torch.Tensor) -> State:
        return self.kernel.init(target, theta, beta)

    def step(
        self, target: Target, state: State, beta: torch.Tensor, generator: Generator
    ) -> tuple[State, Info]:
        return self.kernel.step(target, state, beta, self.streams)


class Lenient(DMALA):
    """A user's kernel with an acceptance of its own."""

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: torch.Tensor, forward: torch.Tensor
    ) -> torch.Tensor:
        return torch.zeros_like(forward)


class Evaluating(DMALA):
    """A user's kernel with an evaluation of its own."""

    def evaluated(self, target: Target, theta: torch.Tensor) -> State:
        return super().evaluated(target, theta)


class Starting(DMALA):
    """A user's kernel with a start of its own."""

    def init(self, target: Target, theta: torch.Tensor, beta: torch.Tensor) -> State:
        return super().init(target, theta, beta)


@pytest.mark.parametrize("cls", [Lenient, Evaluating, Starting])
def test_preparing_never_replaces_a_subclass_of_ones_own(cls: type[DMALA]) -> None:
    kernel = cls(1.0)
    assert kernel.prepared(random_target(SPACES["ordinal"]), ONE) is kernel


class Modest(DMALA):
    """A user's kernel that serves no target and claims nothing."""

    exact = False
    persistent_aux = ("own",)

    def check(self, target: Target) -> None:
        raise ValueError("no target is served")


def test_a_prepared_kernel_keeps_what_its_class_says() -> None:
    target = random_target(SPACES["ordinal"])
    prepared = Modest(1.0).prepared(target, ONE)
    assert isinstance(prepared, Modest)
    assert isinstance(prepared.proposal, TabulatedLangevin)
    assert not prepared.exact
    assert prepared.persistent_aux == ("own",)
    with pytest.raises(ValueError, match="no target is served"):
        prepared.init(target, target.space.states(), ONE)


@pytest.mark.parametrize(
    "kernel", [DMALA(1.0), ParallelTempering(DMALA(1.0), [1.0, 0.5], [1.0, 2.0])], ids=["dmala", "pt"]
)
def test_a_prepared_kernel_takes_its_tables_to_another_dtype(kernel: Kernel) -> None:
    target = random_target(SPACES["ordinal"])
    prepared = kernel.prepared(target, ONE)
    prepared.step(target, start(kernel, target, ONE), ONE, seeded(0))
    small, one = random_target(SPACES["ordinal"]).float(), ONE.float()
    moved, tables = prepared.to(one), kernel.to(one).prepared(small, one)
    assert type(tables) is type(moved)
    after = [each.step(small, start(each, small, one), one, seeded(1))[0] for each in (moved, tables)]
    assert torch.equal(after[0].theta, after[1].theta)
    assert after[0].log_prob.dtype == torch.float32


def start(kernel: Kernel, target: Target, beta: torch.Tensor) -> State:
    """40 chains at 0."""
    theta = torch.zeros((*kernel.axes, 40, *target.space.event_shape), dtype=beta.dtype)
    return kernel.init(target, theta, beta)


@pytest.mark.parametrize(
    "kernel", [DMALA(1.0), ParallelTempering(DMALA(1.0), [1.0, 0.5])], ids=["dmala", "pt"]
)
def test_a_prepared_kernel_steps_in_inference_mode(kernel: Kernel) -> None:
    target = MixtureOfGaussians(8).double()
    kernel, ends = kernel.prepared(target, ONE), []
    for inference in (True, False):
        with torch.inference_mode(inference):
            beta, generator = torch.ones((), dtype=torch.float64), seeded(0)
            state = start(kernel, target, beta)
            for _ in range(3):
                state, _ = kernel.step(target, state, beta, generator)
            ends.append(state.theta)
    assert torch.equal(*ends)


KERNELS_OF_NUMBERS: dict[str, Callable[[], Kernel]] = {
    "dmala": lambda: DMALA(0.5),
    "dmala_sizes": lambda: DMALA(torch.full((40,), 0.5, dtype=torch.float64)),
    "dula_sizes": lambda: DULA(torch.full((40,), 0.5, dtype=torch.float64)),
    "edmala": lambda: EDMALA(0.5, 0.5),
    "edmala_glu": lambda: EDMALAGLU(0.5, 0.5),
    "ab": lambda: AB(0.5, 0.7),
    "ab_sizes": lambda: AB(*torch.full((2, 40), 0.7, dtype=torch.float64)),
    "acs": lambda: ACS(3, 1.0, 0.5, 0.7),
    "newton": lambda: DMALANewton(0.5),
}


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", KERNELS_OF_NUMBERS)
def test_states_keep_their_dtype_whatever_that_of_the_hyperparameters(name: str, space: str) -> None:
    target, kernel = random_target(SPACES[space]).float(), KERNELS_OF_NUMBERS[name]()
    if name == "newton" and space == "ordinal":
        return
    one = torch.ones(())
    state, info = kernel.step(target, target_start(kernel, target, one), one, seeded(0))
    assert state.theta.dtype == state.log_prob.dtype == info.acceptance.dtype == torch.float32


def target_start(kernel: Kernel, target: Target, beta: torch.Tensor) -> State:
    """40 chains at states of the target."""
    return kernel.init(target, target.initial((40,), seeded(2)), beta)


@pytest.mark.parametrize(
    "kernel", [DMALA(1.0), ParallelTempering(DMALA(1.0), [1.0, 0.5])], ids=["dmala", "pt"]
)
def test_a_prepared_kernel_refuses_another_inverse_temperature(kernel: Kernel) -> None:
    target, generator = random_target(SPACES["ordinal"]), seeded(0)
    prepared, beta = kernel.prepared(target, ONE), ONE.clone()
    assert prepared is not kernel
    state = prepared.init(target, target.initial((*kernel.axes, 5), generator), beta)
    for same in (beta, beta, beta.clone()):
        prepared.step(target, state, same, generator)
    refused = r"^beta must be the inverse temperature that the kernel was"
    with pytest.raises(ValueError, match=refused):
        prepared.step(target, state, 0.5 * ONE, generator)
    # The tensor that was right before, changed in place.
    with pytest.raises(ValueError, match=refused):
        prepared.step(target, state, beta.mul_(0.5), generator)
    beta = ONE.clone()
    prepared.step(target, state, beta, generator)
    beta.numpy()[...] = 0.5  # a change that torch does not count
    with pytest.raises(ValueError, match=refused):
        prepared.step(target, state, beta, generator)


@pytest.mark.parametrize("alpha", [0.15, 5.0])
@pytest.mark.parametrize("scale", [2.0, 40.0])
def test_log_acceptance_in_float32_is_that_of_float64(alpha: float, scale: float) -> None:
    exact = small_rbm(784, 100, scale)
    rounded = small_rbm(784, 100, scale).float()
    exact.load_state_dict({name: value.double() for name, value in rounded.state_dict().items()})
    theta = exact.initial((2, 50), seeded(0))
    found = []
    for target in (exact, rounded):
        one = ONE.to(target.like())
        kernel = DMALA(alpha).to(target.like())
        source, destination = (kernel.init(target, x.to(one), one) for x in theta)
        forward, reverse = (
            kernel.proposal.log_prob(target.space, a, b.theta, one)
            for a, b in ((source, destination), (destination, source))
        )
        found.append((destination.log_prob - source.log_prob + reverse - forward).double())
    assert found[1].isfinite().all()
    # Energies of order 10^4 at the larger scale: a few units in the last place of float32.
    assert (found[0] - found[1]).abs().max() <= 5e-4 * max(1.0, scale)


def test_flip_logits_beyond_the_range_of_exp_give_probabilities_to_the_last_digit() -> None:
    """exp(|logit|) is infinite in float32 beyond 88; here they reach 10,000."""
    space = Binary(8)
    theta = torch.zeros((1, 8))
    grad = 2.0 * torch.tensor([[-1e4, -90.0, -1.0, 0.0, 1.0, 90.0, 1e4, 1e4]]) + 5.0
    proposal = LangevinProposal(torch.tensor(0.2))
    flipped = torch.tensor([[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0]])
    log_prob = proposal.log_prob(space, State(theta, torch.zeros(1), grad), flipped, torch.ones(()))
    logit = torch.tensor([-1e4, -90.0, -1.0, 0.0, 1.0, 90.0, 1e4, 1e4], dtype=torch.float64)
    expected = torch.nn.functional.logsigmoid((2 * flipped[0].double() - 1) * logit).sum()
    assert log_prob.item() == pytest.approx(expected.item(), abs=1e-5)
    unlikely = proposal.log_prob(space, State(theta, torch.zeros(1), grad), 1 - flipped, torch.ones(()))
    assert unlikely.item() == pytest.approx(-30180.0 + expected.item(), rel=1e-3)


@pytest.mark.parametrize("d", [1, 8, 17])
@pytest.mark.parametrize("chains", [1, 7, 16])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_proposals_of_a_seed_are_the_same_bits_beside_others(d: int, chains: int, dtype: torch.dtype) -> None:
    generator = seeded(d)
    seeds = [3, 1, 4]
    target = RBM(d, 2)
    theta = torch.randint(0, 2, (3, chains, d), generator=generator).to(dtype)
    grad = 8.0 * torch.randn((3, chains, d), generator=generator, dtype=dtype)
    proposal, one = LangevinProposal(torch.tensor(0.7, dtype=dtype)), torch.ones((), dtype=dtype)

    def draw(rows: slice) -> tuple[torch.Tensor, ...]:
        state = State(theta[rows].clone(), theta[rows].sum(-1), grad[rows].clone())
        drawn, forward = proposal.propose(target.space, state, one, Streams(seeds[rows], "chain"))
        back = State(drawn, state.log_prob, state.grad)
        return drawn, forward, proposal.log_prob(target.space, back, state.theta, one)

    together = draw(slice(0, 3))
    for seed in range(3):
        for batch, alone in zip(together, draw(slice(seed, seed + 1)), strict=True):
            assert torch.equal(batch[seed : seed + 1], alone)


@pytest.mark.parametrize("norm", [2.0, 1.0])
def test_the_way_back_in_a_step_has_the_bits_of_one_that_is_asked_for_alone(norm: float) -> None:
    """What the proposal keeps of a move serves the move back alone, and no other one."""
    target = MixtureOfGaussians(components=8).float()
    one, proposal = torch.ones(()), LangevinProposal(torch.tensor(30.0), norm=norm)
    tables = proposal.tabulated(target, one)
    assert tables is not None
    state = evaluate(target, target.initial((50,), torch.Generator().manual_seed(0)), gradient=True)
    theta, forward = tables.propose(target.space, state, one, torch.Generator().manual_seed(1))
    proposed = evaluate(target, theta, gradient=True)
    back = tables.log_prob(target.space, proposed, state.theta, one)
    alone = proposal.tabulated(target, one)
    assert alone is not None
    assert torch.equal(alone.log_prob(target.space, proposed, state.theta, one), back)
    assert torch.equal(tables.log_prob(target.space, state, theta, one), forward)
    elsewhere = torch.zeros_like(theta)
    assert torch.equal(
        tables.log_prob(target.space, proposed, elsewhere, one),
        alone.log_prob(target.space, proposed, elsewhere, one),
    )
