"""Random-walk Metropolis: its proposal by brute force."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from samplers import RandomWalk, State
from samplers.discrete.random_walk import RandomWalkProposal
from targets import Binary, Categorical, Discrete, Ordinal, Real
from tests.support.steps.stepping import seeded
from tests.support.targets.small_targets import random_target

BETA = torch.ones((), dtype=torch.float64)


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


@pytest.mark.parametrize(("levels", "reach"), [(101, 10), (5, 1), (20, 2)])
def test_the_default_reach_is_a_tenth_of_the_levels(levels: int, reach: int) -> None:
    assert RandomWalkProposal().reach(Ordinal(2, levels)) == reach


def test_the_gaussian_step_has_its_density() -> None:
    proposal = RandomWalkProposal(0.7)
    state = State(torch.randn(50, 2, dtype=torch.float64, generator=seeded(0)), BETA)
    state = State(state.theta, state.theta.sum(-1))
    theta, log_prob = proposal.propose(Real(2), state, BETA, seeded(1))
    expected = torch.distributions.Normal(state.theta, 0.7).log_prob(theta).sum(-1)
    assert torch.allclose(log_prob, expected)


def test_step_sizes_that_make_no_sense_are_refused() -> None:
    for value in (0, -1, float("nan"), float("inf"), "wide", True, [1]):
        with pytest.raises(ValueError, match=r"^step_size must be a positive number, .* was given$"):
            RandomWalk(value)  # type: ignore[arg-type]
    target = random_target(Ordinal(2, 5))
    with pytest.raises(ValueError, match=r"^step_size must be a whole number .* 0\.5 was given$"):
        RandomWalk(0.5).init(target, target.space.states(), BETA)
