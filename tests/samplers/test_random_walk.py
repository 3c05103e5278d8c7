"""Random-walk Metropolis: its proposal by brute force, its exactness by enumeration."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from metrics.enumeration.transition_matrix import transition_matrix
from samplers.discrete.random_walk import RandomWalk, RandomWalkProposal
from samplers.kernel import State
from targets.spaces import Binary, Categorical, Discrete, Ordinal, Real
from targets.target import Target
from tests.support.checks import dkw_band, invariance, largest_gap, sampled_rows
from tests.support.small_targets import SPACES, random_target

BETA = torch.ones((), dtype=torch.float64)


class StandardNormal(Target):
    """N(0, I) in two dimensions."""

    space = Real(2)

    def log_prob(self, theta: Tensor) -> Tensor:
        return -0.5 * theta.square().sum(-1)


def proposal_matrix(proposal: RandomWalkProposal, space: Discrete) -> Tensor:
    """q(y | x) for all pairs of states, shape ``(size, size)``."""
    states = space.states()
    pairs = states.unsqueeze(1).expand(len(states), *states.shape)
    source = State(pairs, torch.zeros(pairs.shape[:2], dtype=torch.float64))
    return proposal.log_prob(space, source, states.expand_as(pairs), BETA).exp()


def brute_force(space: Discrete, reach: int) -> Tensor:
    """The same from the description: every coordinate and offset in turn."""
    states = [tuple(levels) for levels in space.to_levels(space.states()).tolist()]
    matrix = torch.zeros(len(states), len(states), dtype=torch.float64)
    for place, state in enumerate(states):
        for coordinate in range(space.d):
            if isinstance(space, Ordinal):
                moves = [state[coordinate] + k for k in range(-reach, reach + 1) if k != 0]
            else:
                moves = [level for level in range(space.levels) if level != state[coordinate]]
            for level in moves:
                moved = (*state[:coordinate], level, *state[coordinate + 1 :])
                arrival = states.index(moved) if moved in states else place
                matrix[place, arrival] += 1 / (space.d * len(moves))
    return matrix


@pytest.mark.parametrize("step_size", [1, 2, 7])
@pytest.mark.parametrize("space", [Binary(3), Ordinal(2, 5), Categorical(2, 3), Ordinal(1, 2)], ids=str)
def test_the_proposal_is_the_one_described(space: Discrete, step_size: int) -> None:
    matrix = proposal_matrix(RandomWalkProposal(step_size), space)
    assert torch.allclose(matrix, brute_force(space, step_size), atol=1e-14)
    assert torch.equal(matrix, matrix.T)


@pytest.mark.parametrize("beta", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("step_size", [None, 1, 2, 7])
@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_leaves_the_target_invariant(space: Discrete, step_size: int | None, beta: float) -> None:
    target = random_target(space, seed=1)
    assert invariance(RandomWalk(step_size), target, beta) <= 1e-12


def test_step_draws_from_the_enumerated_row() -> None:
    """A million draws from each of nine states, offsets beyond both ends among them; 1e-6 (DKW)."""
    target, kernel = random_target(Ordinal(2, 3), seed=2), RandomWalk(2)
    matrix = transition_matrix(kernel, target, 0.5)
    frequencies = sampled_rows(kernel, target, 0.5, 1_000_000)
    assert largest_gap(frequencies, matrix) <= dkw_band(1_000_000, 9) < 0.003


@pytest.mark.parametrize(("levels", "reach"), [(101, 10), (5, 1), (20, 2)])
def test_the_default_reach_is_a_tenth_of_the_levels(levels: int, reach: int) -> None:
    assert RandomWalkProposal().reach(Ordinal(2, levels)) == reach


def test_the_gaussian_step_has_its_density() -> None:
    proposal = RandomWalkProposal(0.7)
    state = State(torch.randn(50, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)), BETA)
    state = State(state.theta, state.theta.sum(-1))
    theta, log_prob = proposal.propose(Real(2), state, BETA, torch.Generator().manual_seed(1))
    expected = torch.distributions.Normal(state.theta, 0.7).log_prob(theta).sum(-1)
    assert torch.allclose(log_prob, expected)


def test_recovers_a_normal_on_the_reals() -> None:
    """20,000 chains from the target take 20 steps and still follow it: mean and variance within 5.5 sd.

    Two means and two variances at 5.5 standard deviations: a false alarm in 1.5e-7 of runs.
    """
    generator = torch.Generator().manual_seed(0)
    theta = torch.randn(20_000, 2, dtype=torch.float64, generator=generator)
    kernel, target = RandomWalk(1.5), StandardNormal()
    state = kernel.init(target, theta, BETA)
    for _ in range(20):
        state, info = kernel.step(target, state, BETA, generator)
    assert 0.2 < float(info.acceptance.mean()) < 0.8
    assert float(info.jump.max()) > 0.5
    assert float((state.theta.mean(0)).abs().max()) < 5.5 / math.sqrt(20_000)
    assert float((state.theta.var(0) - 1).abs().max()) < 5.5 * math.sqrt(2 / 20_000)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "wide", True, [1]])
def test_refuses_a_step_size_that_is_not_positive(value: object) -> None:
    with pytest.raises(ValueError, match=r"^step_size must be a positive number, .* was given$"):
        RandomWalk(value)  # type: ignore[arg-type]


def test_refuses_part_of_a_level() -> None:
    target = random_target(Ordinal(2, 5))
    with pytest.raises(ValueError, match=r"^step_size must be a whole number .* 0\.5 was given$"):
        RandomWalk(0.5).init(target, target.space.states(), BETA)


def test_works_on_the_rungs_of_a_ladder() -> None:
    target, kernel = random_target(Ordinal(2, 5)), RandomWalk()
    theta, betas = target.initial((3, 2, 4), torch.Generator()), torch.tensor([1.0, 0.5, 0.0])
    state = kernel.init(target, theta, betas.reshape(3, 1, 1))
    after, info = kernel.step(target, state, betas.reshape(3, 1, 1), torch.Generator())
    assert after.theta.shape == (3, 2, 4, 2)
    assert info.jump.shape == info.acceptance.shape == (3, 2, 4)
    assert info.evaluations == 1
