"""EDULA and EDMALA with both updates: the joint distribution of theta and theta_a, by formula and frequency.

theta_a is continuous, so that no finite matrix holds these kernels. What is proved instead: detailed balance
of EDMALA at pairs of joint states, against the paper's equations written out; that of the GLU variant for
theta given theta_a, by enumeration; and the margin in theta, by chains that start in the joint distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from scipy.stats import kstest
from torch import Tensor

from metrics.enumeration.transition_matrix import tempered_probabilities
from samplers import EDMALA, EDMALAGLU, EDULA, EDULAGLU, Kernel, ParallelTempering, SimulatedTempering, State
from samplers.entropic.entropic_kernel import EntropicKernel
from samplers.kernel import evaluate
from samplers.proposals.entropic_langevin import THETA_A
from targets import Binary, Categorical, Discrete, Streams, Tabulated, Target
from tests.support.checks import FALSE_ALARM
from tests.support.steps.stepping import ONE, seeded
from tests.support.targets.small_targets import SPACES, random_target
from tests.support.tunable import tunable

ALPHA, ETA, ALPHA_A = 1.0, 0.7, 0.3

KERNELS: dict[str, Callable[[float], EntropicKernel]] = {
    "edmala": lambda step: EDMALA(step, ETA, ALPHA_A),
    "edmala_glu": lambda step: EDMALAGLU(step, ETA),
    "edula": lambda step: EDULA(step, ETA, ALPHA_A),
    "edula_glu": lambda step: EDULAGLU(step, ETA),
}
ADJUSTED = [name for name in KERNELS if KERNELS[name](1.0).exact]


def log_q(target: Target, theta: Tensor, gradient: Tensor, other: Tensor, alpha: float) -> Tensor:
    """log q of the discrete Langevin proposal with this gradient, coordinate by coordinate (EDLP, Eq. 8)."""
    space = target.space
    assert isinstance(space, Discrete)
    total = torch.zeros(theta.shape[0], dtype=torch.float64)
    for row in range(theta.shape[0]):
        for coordinate in range(space.d):
            here, drift = theta[row, coordinate], gradient[row, coordinate]
            if isinstance(space, Categorical):
                levels = torch.eye(space.levels, dtype=torch.float64)
                squares = (levels - here).square().sum(-1)
                logits = 0.5 * (levels - here) @ drift - squares / (2 * alpha)
                chosen = int(other[row, coordinate].argmax())
            else:
                offset = torch.arange(space.levels, dtype=torch.float64) - here
                logits = 0.5 * drift * offset - offset**2 / (2 * alpha)
                chosen = int(other[row, coordinate])
            total[row] += logits[chosen] - logits.logsumexp(0)
    return total


def squares(values: Tensor) -> Tensor:
    """|values|^2 of each row."""
    return values.flatten(1).square().sum(-1)


def log_normal(value: Tensor, mean: Tensor, variance: float) -> Tensor:
    """log density of a Gaussian with this mean and variance in every coordinate, summed over a row."""
    number = value[0].numel()
    return -squares(value - mean) / (2 * variance) - 0.5 * number * math.log(2 * math.pi * variance)


def joint_states(target: Target, rows: int, seed: int) -> State:
    """Random pairs (theta, theta_a), evaluated; theta_a is up to two away."""
    generator = seeded(seed)
    theta = target.initial((rows,), generator)
    theta_a = theta + 2 * torch.randn(theta.shape, generator=generator, dtype=torch.float64)
    return replace(evaluate(target, theta, gradient=True), aux={THETA_A: theta_a})


def log_joint(state: State, beta: float) -> Tensor:
    """beta U - |theta - theta_a|^2 / (2 eta); Eq. 4."""
    return beta * state.log_prob - squares(state.theta - state.aux[THETA_A]) / (2 * ETA)


def log_move(target: Target, a: State, b: State, beta: float, alpha: float) -> Tensor:
    """log density of the joint proposal from `a` to `b`; Eq. 9."""
    assert a.grad is not None
    gap = a.theta - a.aux[THETA_A]
    drift = beta * a.grad - gap / ETA
    mean = a.aux[THETA_A] + ALPHA_A / 2 * gap / ETA
    return log_q(target, a.theta, drift, b.theta, alpha) + log_normal(b.aux[THETA_A], mean, ALPHA_A)


def imbalance(kernel: EDMALA, target: Target, beta: float, alpha: float) -> float:
    """How far the log probability flows between 40 pairs of joint states are from equal."""
    here, there = joint_states(target, 40, seed=1), joint_states(target, 40, seed=2)
    flows = [
        log_joint(a, beta)
        + log_move(target, a, b, beta, alpha)
        + kernel.log_acceptance(target.space, a, b, beta * ONE)
        for a, b in ((here, there), (there, here))
    ]
    return float((flows[0] - flows[1]).abs().max())


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("alpha", [0.2, 10.0])
def test_edmala_is_in_detailed_balance_with_the_joint_distribution(space: str, alpha: float) -> None:
    target = random_target(SPACES[space], seed=3)
    for beta in (1.0, 0.4, 0.0):
        assert imbalance(EDMALA(alpha, ETA, ALPHA_A), target, beta, alpha) <= 1e-11


def conditional_matrices(target: Target, theta_a: Tensor, beta: float, alpha: float) -> tuple[Tensor, Tensor]:
    """EDMALA-GLU at fixed theta_a ``(n, *event)``: P of theta ``(n, size, size)``, p(theta | theta_a)."""
    space = target.space
    assert isinstance(space, Discrete)
    kernel, number = EDMALAGLU(alpha, ETA), len(theta_a)
    each = evaluate(target, space.states(), gradient=True)
    size, event = len(each.theta), each.theta.shape[1:]

    def along(axis: int) -> State:
        def spread(values: Tensor) -> Tensor:
            return values.unsqueeze(1 - axis).expand(number, size, size, *values.shape[1:])

        assert each.grad is not None
        return State(spread(each.theta), spread(each.log_prob), spread(each.grad))

    source, arrival = along(0), along(1)
    gap, tempered = source.theta - theta_a.reshape(number, 1, 1, *event), beta * ONE
    forward = kernel.proposal.log_prob(space, source, gap, arrival.theta, tempered)
    matrix = (forward + kernel.log_acceptance(space, source, arrival, tempered, gap)).exp()
    eye = torch.eye(size, dtype=torch.float64)
    matrix = matrix * (1 - eye)
    matrix = matrix + eye * (1.0 - matrix.sum(-1, keepdim=True))
    distance = (each.theta - theta_a.unsqueeze(1)).flatten(2).square().sum(-1)
    return matrix, (beta * each.log_prob - distance / (2 * ETA)).softmax(-1)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("alpha", [0.2, 1.0, 10.0])
def test_the_glu_update_of_theta_leaves_its_conditional_invariant(space: str, alpha: float) -> None:
    target = random_target(SPACES[space], seed=3)
    generator = seeded(5)
    theta_a = 1.5 * torch.randn((20, *target.space.event_shape), generator=generator, dtype=torch.float64)
    for beta in (1.0, 0.4, 0.0):
        matrix, distribution = conditional_matrices(target, theta_a, beta, alpha)
        assert (matrix >= -1e-15).all()
        assert ((distribution.unsqueeze(1) @ matrix).squeeze(1) - distribution).abs().max() <= 1e-12


def joint_draws(target: Target, chains: int, beta: float, generator: torch.Generator) -> State:
    """Independent draws (theta, theta_a) of the joint distribution, evaluated."""
    space = target.space
    assert isinstance(space, Discrete)
    distribution = tempered_probabilities(target, beta).cumsum(0)
    place = torch.searchsorted(distribution, torch.rand(chains, generator=generator, dtype=torch.float64))
    theta = space.states()[place.clamp(max=len(distribution) - 1)]
    noise = torch.randn(theta.shape, generator=generator, dtype=torch.float64)
    return replace(evaluate(target, theta, gradient=True), aux={THETA_A: theta + math.sqrt(ETA) * noise})


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", ADJUSTED)
def test_chains_that_start_in_the_joint_distribution_stay_in_it(name: str, space: str) -> None:
    target = random_target(SPACES[space], seed=3)
    chains, beta, generator = 100_000, 0.7, seeded(7)
    kernel, tempered = KERNELS[name](ALPHA), 0.7 * ONE
    state = joint_draws(target, chains, beta, generator)
    moved = torch.zeros((), dtype=torch.float64)
    for _ in range(3):
        state, info = kernel.step(target, state, tempered, generator)
        moved += info.jump.mean()
    assert moved > 0.3
    counts = torch.bincount(target.space.index(state.theta), minlength=target.space.size)
    distribution = tempered_probabilities(target, beta)
    # Hoeffding and a union over the states, at 1e-6.
    band = math.sqrt(math.log(2 * target.space.size / FALSE_ALARM) / (2 * chains))
    assert (counts / chains - distribution).abs().max() <= band
    gaps = (state.theta - state.aux[THETA_A]).flatten(1) / math.sqrt(ETA)
    if name == "edmala":
        for coordinate in range(gaps.shape[1]):
            assert kstest(gaps[:, coordinate].numpy(), "norm").pvalue > FALSE_ALARM / gaps.shape[1]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("around", ["nothing", "parallel", "simulated"])
def test_chains_that_start_at_draws_of_the_target_stay_in_it(space: str, around: str) -> None:
    """With the default eta and alpha_a; all gaps normal, and theta's own distribution after 10 steps."""
    target, chains = random_target(SPACES[space], seed=3), 50_000
    generator, kernel = seeded(7), EDMALA(ALPHA)
    theta = joint_draws(target, chains, 1.0, generator).theta
    outer: Kernel = kernel
    if around == "parallel":
        outer, theta = ParallelTempering(kernel, [1.0, 0.5], step_size=ALPHA), theta.expand(2, *theta.shape)
    elif around == "simulated":
        outer = SimulatedTempering(kernel, [1.0, 0.5], [0.0, 0.0], step_size=ALPHA)
    state = outer.start(target, theta, ONE, generator)
    gaps = (state.theta - state.aux[THETA_A]).flatten() / math.sqrt(kernel.eta)
    assert kstest(gaps[:200_000].numpy(), "norm").pvalue > FALSE_ALARM
    if around != "nothing":
        return
    for _ in range(10):
        state, _ = kernel.step(target, state, ONE, generator)
    counts = torch.bincount(target.space.index(state.theta), minlength=target.space.size)
    # Hoeffding and a union over the states, at 1e-6.
    band = math.sqrt(math.log(2 * target.space.size / FALSE_ALARM) / (2 * chains))
    assert (counts / chains - target.probabilities()).abs().max() <= band


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", KERNELS)
def test_a_step_proposes_by_the_papers_formulas(name: str, space: str) -> None:
    """Proposals from one joint state: frequencies of theta' against Eq. 8, theta_a' against Eq. 6."""
    target, number = random_target(SPACES[space], seed=3), 100_000
    kernel, generator = KERNELS[name](10.0), seeded(3)
    one = joint_states(target, 1, seed=4)
    assert one.grad is not None

    def many(values: Tensor) -> Tensor:
        return values.expand(number, *values.shape[1:])

    state = State(many(one.theta), many(one.log_prob), many(one.grad), {THETA_A: many(one.aux[THETA_A])})
    assert state.grad is not None
    gap = state.theta - state.aux[THETA_A]
    theta, log_prob = kernel.proposal.propose(target.space, state, gap, 0.7 * ONE, generator)
    states = target.space.states()
    drift = 0.7 * one.grad - (one.theta - one.aux[THETA_A]) / ETA
    rows = one.theta.expand_as(states)
    distribution = log_q(target, rows, drift.expand_as(states), states, 10.0)
    torch.testing.assert_close(distribution.exp().sum(), ONE, atol=1e-12, rtol=0)
    torch.testing.assert_close(log_prob, distribution[target.space.index(theta)], atol=1e-11, rtol=1e-12)
    counts = torch.bincount(target.space.index(theta), minlength=len(states))
    band = math.sqrt(math.log(2 * len(states) / FALSE_ALARM) / (2 * number))
    assert (counts / number - distribution.exp()).abs().max() <= band
    batch = state.log_prob.shape
    if name.endswith("glu"):
        scaled = kernel.proposal.draw_gap(state.theta, batch, generator) / math.sqrt(ETA)
    else:
        moved = kernel.proposal.move_auxiliary(state.aux[THETA_A], gap, batch, generator)
        scaled = (moved - state.aux[THETA_A] - ALPHA_A / (2 * ETA) * gap) / math.sqrt(ALPHA_A)
    assert kstest(scaled.flatten().numpy(), "norm").pvalue > FALSE_ALARM


@pytest.mark.parametrize("name", ADJUSTED)
def test_what_was_refused_stays_whole(name: str) -> None:
    """A refused chain keeps theta, its density and, under EDMALA, theta_a; an accepted one none of them."""
    target, kernel = random_target(SPACES["ordinal"], seed=3), KERNELS[name](10.0)
    state = joint_states(target, 500, seed=1)
    after, info = kernel.step(target, state, ONE, seeded(0))
    stayed = (after.theta == state.theta).all(-1)
    assert 0 < int(stayed.sum()) < 500
    if name == "edmala":
        kept = (after.aux[THETA_A] == state.aux[THETA_A]).all(-1)
        assert bool(stayed[kept].all())
        assert bool((info.acceptance[~kept] > 0).all())
        assert 0 < int(kept.sum()) < 500
    else:
        assert not bool((after.aux[THETA_A] == state.aux[THETA_A]).any())


@pytest.mark.parametrize("name", ["edula", "edula_glu"])
def test_an_unadjusted_kernel_takes_every_move(name: str) -> None:
    target, kernel = random_target(SPACES["ordinal"], seed=3), KERNELS[name](10.0)
    assert not kernel.exact
    state = joint_states(target, 500, seed=1)
    after, info = kernel.step(target, state, ONE, seeded(0))
    assert bool((info.acceptance == 1.0).all())
    generator = seeded(0)
    gap = state.theta - state.aux[THETA_A]
    if name == "edula_glu":
        gap = kernel.proposal.draw_gap(state.theta, state.log_prob.shape, generator)
    theta, _ = kernel.proposal.propose(target.space, state, gap, ONE, generator)
    assert torch.equal(after.theta, theta)


@pytest.mark.parametrize("name", KERNELS)
def test_theta_a_survives_a_change_of_the_model(name: str) -> None:
    target, kernel = random_target(SPACES["binary"], seed=3), KERNELS[name](1.0)
    generator = seeded(0)
    state = kernel.start(target, target.initial((4,), generator), ONE, generator)
    state, _ = kernel.step(target, state, ONE, generator)
    assert torch.equal(kernel.refreshed(target, state, ONE).aux[THETA_A], state.aux[THETA_A])
    tempered = ParallelTempering(kernel, ladder=[1.0, 0.5], step_size=1.0)
    ladder = tempered.init(target, target.initial((2, 1, 4), generator), ONE)
    ladder, _ = tempered.step(target, ladder, ONE, generator)
    again = tempered.refreshed(target, ladder, ONE)
    assert torch.equal(again.aux[THETA_A], ladder.aux[THETA_A])


@pytest.mark.parametrize("name", ADJUSTED)
def test_a_ladder_around_it_leaves_every_rung_invariant(name: str) -> None:
    """Replicas that start in their joint distributions, 3 rounds; Hoeffding at 1e-6; swaps move theta_a."""
    target, chains = random_target(SPACES["binary"], seed=3), 100_000
    betas = [1.0, 0.4, 0.0]
    kernel = ParallelTempering(KERNELS[name](ALPHA), ladder=betas, step_size=ALPHA)
    generator = seeded(11)
    rungs = [joint_draws(target, chains, beta, generator) for beta in betas]
    theta = torch.stack([rung.theta for rung in rungs]).unsqueeze(1)
    state = kernel.init(target, theta, ONE)
    theta_a = torch.stack([rung.aux[THETA_A] for rung in rungs]).unsqueeze(1)
    state = replace(state, aux={**state.aux, THETA_A: theta_a})
    streams, swaps = Streams([0], "test"), 0.0
    for _ in range(3):
        state, info = kernel.step(target, state, ONE, streams)
        assert info.swap is not None
        swaps += float(info.swap.accepted.double().mean())
    assert swaps > 0.5
    for rung, beta in enumerate(betas):
        counts = torch.bincount(target.space.index(state.theta[rung]).flatten(), minlength=8)
        distribution = tempered_probabilities(target, beta)
        band = math.sqrt(math.log(2 * 8 / FALSE_ALARM) / (2 * chains))
        assert (counts / chains - distribution).abs().max() <= band


def test_the_step_size_is_tuned_to_the_joint_acceptance() -> None:
    target = random_target(Binary(12), seed=1, roughness=2.0)
    tuned = tunable(EDMALA, eta=5.0).tuned(target, seeded(0))
    state = tuned.init(target, target.initial((500,), seeded(1)), ONE)
    total = 0.0
    for step in range(300):
        state, info = tuned.step(target, state, ONE, seeded(step))
        total += float(info.acceptance.mean()) / 300
    assert total == pytest.approx(0.574, abs=0.05)


@pytest.mark.parametrize("name", ["edmala_glu", "edula_glu"])
def test_glu_reports_the_theta_a_that_it_drew_also_where_theta_stays(name: str) -> None:
    """Each step draws it from its conditional, before theta moves or does not."""
    space = Binary(3)
    log_prob = torch.full((space.size,), -torch.inf, dtype=torch.float64)
    log_prob[0] = 0.0
    target = Tabulated(space, log_prob, torch.zeros(space.size, 3))
    kernel = KERNELS[name](1.0)
    state = kernel.init(target, torch.zeros(50, 3, dtype=torch.float64), ONE)
    after, info = kernel.step(target, state, ONE, seeded(0))
    drawn = state.theta - kernel.proposal.draw_gap(state.theta, torch.Size([50]), seeded(0))
    assert torch.equal(after.theta, state.theta)
    assert torch.equal(after.aux[THETA_A], drawn)
    assert torch.equal(info.aux[THETA_A], drawn)


def test_simulated_tempering_reports_the_auxiliaries_of_its_state() -> None:
    """Not those of a move that a chain did not make because it moved between levels."""
    target = random_target(SPACES["binary"], seed=2)
    kernel = SimulatedTempering(EDMALA(ALPHA, ETA, ALPHA_A), [1.0, 0.5], [0.0, 0.0])
    state = kernel.init(target, target.initial((50,), seeded(1)).double(), ONE)
    after, info = kernel.step(target, state, ONE, seeded(0))
    assert torch.equal(info.aux[THETA_A], after.aux[THETA_A])
