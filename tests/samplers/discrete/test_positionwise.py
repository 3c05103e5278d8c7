"""Kernels that decide on each position by itself: against loops, and how far they are from the target."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial

import pytest
import torch

from metrics.enumeration.transition_matrix import stationary, total_variation, transition_matrix
from samplers import DMALA, EDMALA, PositionwiseDMALA, PositionwiseEDMALA
from samplers.kernel import Kernel, State, evaluate
from samplers.proposals.entropic_langevin import THETA_A
from targets import TSP, Binary, Potts, Target
from tests.support.checks import dkw_band, largest_gap, sampled_rows
from tests.support.steps.stepping import ONE, seeded
from tests.support.targets.small_targets import random_target

TARGET = random_target(Binary(4), seed=1)
BETAS = (1.0, 0.7)


def matrix_by_loops(step_size: float, width: int, beta: float) -> torch.Tensor:
    """The transitions of the released rule: over proposals, and over which positions take them."""
    states = TARGET.space.states()
    log_prob, grad = TARGET.log_prob_and_grad(states)
    d, positions = 4, 4 // width
    flips = [[_flip(beta, grad[x, k], states[x, k], step_size) for k in range(d)] for x in range(16)]

    def log_q(source: int, other: int, position: int) -> float:
        bits = range(position * width, (position + 1) * width)
        differ = [bool(states[source, k] != states[other, k]) for k in bits]
        chances = [flips[source][k] for k in bits]
        return sum(math.log(p if moved else 1 - p) for p, moved in zip(chances, differ, strict=True))

    matrix = torch.zeros((16, 16), dtype=torch.float64)
    for x, y in itertools.product(range(16), repeat=2):
        forward = [log_q(x, y, i) for i in range(positions)]
        rise = beta * (log_prob[y] - log_prob[x]).item()
        accept = [min(1.0, math.exp(rise + log_q(y, x, i) - forward[i])) for i in range(positions)]
        for taken in itertools.product((0, 1), repeat=positions):
            mixed = [states[y if taken[k // width] else x, k].item() for k in range(d)]
            chance = math.prod(a if t else 1 - a for a, t in zip(accept, taken, strict=True))
            matrix[x, int("".join(str(int(bit)) for bit in mixed), 2)] += math.exp(sum(forward)) * chance
    return matrix


def _flip(beta: float, grad: torch.Tensor, bit: torch.Tensor, step_size: float) -> float:
    logit = 0.5 * beta * grad.item() * (1 - 2 * bit.item()) - 1 / (2 * step_size)
    return 1 / (1 + math.exp(-logit))


def test_the_states_are_numbered_as_the_loops_do() -> None:
    assert TARGET.space.states()[0b0110].tolist() == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("width", [1, 2])
def test_steps_are_drawn_from_the_released_rule(width: int) -> None:
    """False alarm 1e-6 (DKW)."""
    expected = matrix_by_loops(2.0, width, 0.7)
    torch.testing.assert_close(expected.sum(-1), torch.ones(16, dtype=torch.float64))
    found = sampled_rows(PositionwiseDMALA(2.0, width), TARGET, 0.7, 100_000)
    assert largest_gap(found, expected) <= dkw_band(100_000, 16)


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("beta", BETAS)
def test_enumeration_finds_the_released_rule(width: int, beta: float) -> None:
    """And not the acceptance of the whole move, by which it would be exact."""
    found = transition_matrix(PositionwiseDMALA(1.0, width), TARGET, beta)
    torch.testing.assert_close(found, matrix_by_loops(1.0, width, beta))


def test_enumeration_keeps_what_is_no_tour_where_it_was() -> None:
    """False alarm 1e-6 (DKW)."""
    target, kernel = TSP(3, scale=1.0), PositionwiseDMALA(2.0, 2)
    expected = transition_matrix(kernel, target)
    torch.testing.assert_close(expected.sum(-1), torch.ones(64, dtype=torch.float64))
    found = sampled_rows(kernel, target, 1.0, 30_000)
    tours = target.log_prob(target.space.states()).isfinite()
    assert largest_gap(found[tours], expected[tours]) <= dkw_band(30_000, 64)
    assert expected[tours][:, ~tours].count_nonzero() == 0


@pytest.mark.parametrize(
    ("kernel", "whole"),
    [
        (PositionwiseDMALA(1.0, 4), DMALA(1.0)),
        (PositionwiseEDMALA(1.0, 0.8, 0.1, 4), EDMALA(1.0, 0.8, 0.1)),
    ],
)
def test_one_position_of_all_bits_steps_as_the_exact_kernel(kernel: Kernel, whole: Kernel) -> None:
    """The same bits from the same random numbers."""
    walks = []
    for one in (kernel, whole):
        generator = seeded(5)
        state = one.drawn(one.init(TARGET, TARGET.initial((200,), generator), ONE), generator)
        for _ in range(30):
            state, info = one.step(TARGET, state, ONE, generator)
        walks.append((state, info))
    (state, info), (expected, exact) = walks
    assert torch.equal(state.theta, expected.theta)
    torch.testing.assert_close(info.acceptance, exact.acceptance)
    for name, value in state.aux.items():
        assert torch.equal(value, expected.aux[name])


@pytest.mark.parametrize("build", [PositionwiseDMALA, partial(PositionwiseEDMALA, eta=0.8)])
def test_each_rung_of_a_ladder_has_its_own_step_and_temperature(
    build: Callable[..., PositionwiseDMALA | PositionwiseEDMALA],
) -> None:
    betas, sizes = torch.tensor([1.0, 0.4]).double(), torch.tensor([0.3, 2.0]).double()
    ladder = build(sizes.unsqueeze(-1), width=2)
    states = [ladder.init(TARGET, TARGET.initial((2, 50), seeded(seed)), ONE) for seed in (0, 1)]
    found = ladder.log_acceptances(*states, betas.unsqueeze(-1))
    for rung in range(2):
        alone = build(sizes[rung].item(), width=2)
        own = [alone.init(TARGET, state.theta[rung], ONE) for state in states]
        torch.testing.assert_close(found[rung], alone.log_acceptances(*own, betas[rung]))


class Holes(Target):
    """NaN at every state with an odd number of bits."""

    space = Binary(4)

    def log_prob(self, theta: torch.Tensor) -> torch.Tensor:
        return theta.sum(-1).masked_fill(theta.sum(-1) % 2 == 1, torch.nan)

    def log_prob_and_grad(self, theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.log_prob(theta), torch.zeros_like(theta)


def test_a_mixture_without_a_density_is_refused_and_seen() -> None:
    """A proposal that flips a bit of both positions has one; what takes one of them has none."""
    target, kernel = Holes(), PositionwiseDMALA(5.0, 2)
    state = kernel.init(target, torch.zeros((4_000, 4), dtype=torch.float64), ONE)
    after, info = kernel.step(target, state, ONE, seeded(0))
    assert bool(after.log_prob.isfinite().all())
    unseen = info.acceptance.isnan()
    assert bool(unseen.any())
    assert not bool((after.theta != state.theta)[unseen].any())


@pytest.mark.parametrize("beta", BETAS)
def test_one_position_of_all_bits_is_dmala(beta: float) -> None:
    own = transition_matrix(DMALA(1.0), TARGET, beta)
    torch.testing.assert_close(matrix_by_loops(1.0, 4, beta), own)
    theta = TARGET.space.states()
    states = [evaluate(TARGET, each, gradient=True) for each in (theta, theta.flip(0))]
    ratio = DMALA(1.0).log_acceptance(TARGET.space, *states, torch.tensor(beta).double())
    found = PositionwiseDMALA(1.0, 4).log_acceptances(*states, torch.tensor(beta).double())
    torch.testing.assert_close(found.squeeze(-1), ratio)


def test_it_is_not_exact() -> None:
    """Total variation between what the released rule leaves invariant and the target."""
    assert not PositionwiseDMALA(1.0).exact
    assert not PositionwiseEDMALA(1.0).exact
    for width in (1, 2):
        own = stationary(matrix_by_loops(1.0, width, 1.0))
        assert total_variation(own, TARGET.probabilities()) > 0.02
    exact = stationary(matrix_by_loops(1.0, 4, 1.0))
    assert total_variation(exact, TARGET.probabilities()) < 1e-12


def entropic_states(seed: int) -> list[State]:
    found = []
    for part in (seed, seed + 1):
        theta = TARGET.space.initial((50,), seeded(part), like=TARGET.like())
        theta_a = theta + torch.randn((50, 4), generator=seeded(part + 9), dtype=torch.float64)
        state = evaluate(TARGET, theta, gradient=True)
        found.append(State(theta, state.log_prob, state.grad, {THETA_A: theta_a}))
    return found


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("width", [1, 2, 4])
def test_the_ratio_of_a_position_has_its_own_part_of_theta_a(width: int, beta: float) -> None:
    """By the released formulas: U of the whole; proposals, coupling and theta_a of the position's bits."""
    eta, alpha, alpha_a = 0.8, 0.2, 0.1
    here, there = entropic_states(3)
    kernel = PositionwiseEDMALA(alpha, eta, alpha_a, width)
    found = kernel.log_acceptances(here, there, torch.tensor(beta).double())

    def parts(source: State, other: State) -> tuple[torch.Tensor, torch.Tensor]:
        """log q of theta and of theta_a, for each bit."""
        assert source.grad is not None
        pull = (source.theta - source.aux[THETA_A]) / eta
        logit = 0.5 * (beta * source.grad - pull) * (1 - 2 * source.theta) - 1 / (2 * alpha)
        moved = torch.where(source.theta != other.theta, logit, -logit).sigmoid().log()
        drift = source.aux[THETA_A] + 0.5 * alpha_a * pull
        return moved, -(other.aux[THETA_A] - drift).square() / (2 * alpha_a)

    def coupling(state: State) -> torch.Tensor:
        return -(state.theta - state.aux[THETA_A]).square() / (2 * eta)

    own = sum(parts(there, here)) - sum(parts(here, there)) + coupling(there) - coupling(here)
    assert isinstance(own, torch.Tensor)
    ratio = own.unflatten(-1, (-1, width)).sum(-1) + beta * (there.log_prob - here.log_prob).unsqueeze(-1)
    torch.testing.assert_close(found, ratio.clamp(max=0.0))
    if width == 4:
        whole = EDMALA(alpha, eta, alpha_a)
        joint = whole.log_acceptance(TARGET.space, here, there, torch.tensor(beta).double())
        torch.testing.assert_close(found.squeeze(-1), joint)


@pytest.mark.parametrize("kernel", [PositionwiseDMALA(1.0, 2), PositionwiseEDMALA(1.0, 0.8, 0.1, 2)])
def test_positions_move_with_their_auxiliary_or_stay_with_it(kernel: PositionwiseDMALA) -> None:
    before = kernel.drawn(kernel.init(TARGET, TARGET.initial((4_000,), seeded(0)), ONE), seeded(1))
    after, info = kernel.step(TARGET, before, ONE, seeded(2))
    moved = (after.theta != before.theta).reshape(-1, 2, 2).any(-1)
    both = moved.sum(-1)
    assert {0, 1, 2} == set(both.tolist())
    assert torch.equal(info.jump, (after.theta != before.theta).sum(-1).double())
    for name, value in after.aux.items():
        stayed = (value == before.aux[name]).reshape(-1, 2, 2)
        assert torch.equal(stayed.all(-1), stayed.any(-1))
        assert not bool((moved & stayed.all(-1)).any())


@pytest.mark.parametrize("kernel", [PositionwiseDMALA(1.0, 2), PositionwiseEDMALA(1.0, 0.8, 0.1, 2)])
def test_chains_stay_on_tours(kernel: PositionwiseDMALA) -> None:
    target = TSP(4, scale=1.0)
    state = kernel.init(target, target.initial((300,), seeded(0)), ONE)
    jumps = 0.0
    for step in range(50):
        state, info = kernel.step(target, state, ONE, seeded(step))
        jumps += float(info.jump.sum())
        assert bool(state.log_prob.isfinite().all())
    assert jumps > 0


@pytest.mark.parametrize("name", ["dmala", "edmala"])
def test_spaces_that_are_no_lists_of_positions_are_refused(name: str) -> None:
    kernel = {"dmala": PositionwiseDMALA(1.0), "edmala": PositionwiseEDMALA(1.0)}[name]
    said = rf"^positionwise_{name} needs a binary space of whole positions of 3 bits, not "
    for target in (TARGET, Potts("square", 3, 3, 0.5)):
        with pytest.raises(ValueError, match=said):
            kernel.check(target)
    with pytest.raises(ValueError, match=r"^width must be a whole number of at least 1, 0 was given$"):
        PositionwiseDMALA(1.0, 0)
