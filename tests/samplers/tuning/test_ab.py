"""AB: its kinship with DMALA, and what its pilot finds."""

from __future__ import annotations

import json

import pytest
import torch

from metrics.enumeration.transition_matrix import transition_matrix
from samplers import AB, DMALA, ParallelTempering
from samplers.tuning.balancing import BALANCING_CANDIDATES, mean_squared_jump
from targets import Binary, Discrete, FunctionTarget, MixtureOfGaussians
from tests.support.steps.stepping import seeded
from tests.support.targets.small_targets import SPACES, random_target
from tests.support.tunable import piloted, tunable

BETA = torch.ones((), dtype=torch.float64)


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_with_balancing_one_half_it_is_dmala(space: Discrete) -> None:
    target = random_target(space, seed=1)
    for step_size in (0.01, 3.0):
        ab = transition_matrix(AB(step_size, 0.5), target, 0.7)
        assert torch.equal(ab, transition_matrix(DMALA(step_size), target, 0.7))


def test_the_pilot_tunes_both_to_the_wanted_acceptance() -> None:
    """On the 8-mode grid; a run from exact draws accepts as often as the pilot aimed at, within 0.05."""
    target = MixtureOfGaussians(8).to(torch.float64)
    sampler = tunable(AB)
    result = sampler.tune(target, seeded(0))
    found, report = result.hyperparameters, result.report
    assert json.loads(json.dumps([found, report])) == [found, report]
    assert found["step_size"] > 0
    assert report["balancing"] == list(BALANCING_CANDIDATES)
    best = max(range(len(BALANCING_CANDIDATES)), key=report["mean_squared_jump"].__getitem__)
    assert found["balancing"] == BALANCING_CANDIDATES[best]
    kernel = sampler.kernel_at(found)
    generator = seeded(1)
    start = target.sample((1, 1, 1000), generator)
    seen = piloted(lambda run: mean_squared_jump(run, kernel, lambda: start, 60), target, generator)
    assert 30 < seen.evaluations <= 60
    assert float(seen.acceptance) == pytest.approx(0.574, abs=0.05)
    assert float(seen.jumps) == pytest.approx(report["mean_squared_jump"][best], rel=0.15)


def test_what_is_given_is_not_tuned() -> None:
    target, generator = random_target(Binary(3)), seeded(0)
    step_given = tunable(AB, step_size=2.0).tune(target, generator).hyperparameters
    assert step_given["step_size"] == 2.0
    assert step_given["balancing"] in BALANCING_CANDIDATES
    balancing_given = tunable(AB, balancing=0.65)
    result = balancing_given.tune(target, generator)
    assert result.hyperparameters["balancing"] == 0.65
    assert "mean_squared_jump" not in result.report
    kernel = balancing_given.kernel_at(result.hyperparameters)
    assert isinstance(kernel, AB)
    assert kernel.balancing == 0.65


def test_mean_squared_jump_against_the_transition_matrix() -> None:
    """E|x' - x|^2 under the target, by enumeration; 2 % is ten standard errors."""
    target, kernel = random_target(SPACES["ordinal"], seed=5), AB(4.0, 0.7)
    states, distribution = target.space.states(), target.probabilities()
    squares = (states.unsqueeze(1) - states).square().sum(-1)
    expected = float((distribution.unsqueeze(-1) * transition_matrix(kernel, target) * squares).sum())
    generator = seeded(0)
    start = target.sample((2, 1, 2000), generator)
    seen = piloted(lambda run: mean_squared_jump(run, kernel, lambda: start, 200), target, generator)
    assert seen.jumps.tolist() == pytest.approx([expected, expected], rel=0.02)


def test_on_a_ladder_the_step_size_is_tuned() -> None:
    target, generator = random_target(Binary(3)), seeded(0)
    inner = tunable(AB, balancing=0.7)
    tempering = tunable(ParallelTempering, inner, ladder=[1.0, 0.5], step_size="auto").tuned(
        target, generator
    )
    state = tempering.init(target, target.initial((2, 1, 5), generator), BETA)
    _, info = tempering.step(target, state, BETA, generator)
    assert info.acceptance.shape == (1, 5)


def test_a_step_size_out_of_reach_is_said_of_the_balancing_constant_that_is_chosen() -> None:
    """At zero the gradient says that a move is up, and it is down; all coordinates move at once."""
    misled = FunctionTarget(lambda theta: 1e6 * (theta - 2.0 * theta.square()).sum(-1), Binary(3))
    for settings in ({}, {"balancing": 0.6}):
        report = tunable(AB, **settings).tune(misled, seeded(0), effort=0.1).report
        assert report["reached_acceptance"] == [pytest.approx(0.0, abs=0.05)]
        assert report["warnings"] == [
            "no step size from 0.02 to 20 is accepted with probability 0.574: at 0.02 it is 0.00; "
            "give sampler.step_size, or the target in other units"
        ]
    assert "warnings" not in tunable(AB, step_size=1.0).tune(misled, seeded(0), effort=0.1).report
    assert "warnings" not in tunable(AB).tune(random_target(Binary(4)), seeded(0), effort=0.1).report
