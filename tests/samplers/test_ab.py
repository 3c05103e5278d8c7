"""AB: exactness by enumeration, its kinship with DMALA, and what its pilot finds."""

from __future__ import annotations

import json
import re

import pytest
import torch

from metrics.enumeration.transition_matrix import transition_matrix
from samplers.discrete.ab import AB
from samplers.discrete.dmala import DMALA
from samplers.metropolis_hastings import MetropolisHastings
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tuning.balancing import BALANCING_CANDIDATES, mean_squared_jump
from samplers.tuning.configured import configured
from targets.spaces import Binary, Discrete, Real
from targets.synthetic.mixture_of_gaussians import MixtureOfGaussians
from tests.support.checks import dkw_band, invariance, largest_gap, sampled_rows
from tests.support.small_targets import SPACES, random_target
from tests.support.tunable import tunable

BETA = torch.ones((), dtype=torch.float64)


@pytest.mark.parametrize("beta", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("balancing", [0.5, 0.75, 1.0])
@pytest.mark.parametrize("step_size", [0.01, 0.7, 20.0])
@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_leaves_the_target_invariant(
    space: Discrete, step_size: float, balancing: float, beta: float
) -> None:
    assert invariance(AB(step_size, balancing), random_target(space, seed=1), beta) <= 1e-12


def test_step_draws_from_the_enumerated_row() -> None:
    """A million draws from each of eight states; false alarm 1e-6 (DKW)."""
    target, kernel = random_target(SPACES["binary"], seed=2), AB(0.7, 0.9)
    frequencies = sampled_rows(kernel, target, 0.5, 1_000_000)
    matrix = transition_matrix(kernel, target, 0.5)
    assert largest_gap(frequencies, matrix) <= dkw_band(1_000_000, 8) < 0.003


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_with_balancing_one_half_it_is_dmala(space: Discrete) -> None:
    target = random_target(space, seed=1)
    for step_size in (0.01, 3.0):
        ab = transition_matrix(AB(step_size, 0.5), target, 0.7)
        assert torch.equal(ab, transition_matrix(DMALA(step_size), target, 0.7))


def test_a_rung_is_the_same_kernel_at_its_own_step_size() -> None:
    target = random_target(SPACES["ordinal"], seed=1)
    rung = AB(torch.tensor(3.0, dtype=torch.float64), 0.7)
    alone = transition_matrix(AB(3.0, 0.7), target, 0.7)
    assert torch.equal(transition_matrix(rung, target, 0.7), alone)


def test_the_published_setting_can_be_had() -> None:
    kernel = AB(step_size=0.1**2, balancing=0.5)
    assert isinstance(kernel, MetropolisHastings)


def test_the_pilot_tunes_both_to_the_wanted_acceptance() -> None:
    """On the 8-mode grid; a run from exact draws accepts as often as the pilot aimed at, within 0.05."""
    target = MixtureOfGaussians(8).to(torch.float64)
    sampler = tunable(AB)
    result = sampler.tune(target, torch.Generator().manual_seed(0))
    found, report = result.hyperparameters, result.report
    assert json.loads(json.dumps([found, report])) == [found, report]
    assert found["step_size"] > 0
    assert report["balancing"] == list(BALANCING_CANDIDATES)
    best = max(range(len(BALANCING_CANDIDATES)), key=report["mean_squared_jump"].__getitem__)
    assert found["balancing"] == BALANCING_CANDIDATES[best]
    kernel = sampler.kernel_at(found)
    generator = torch.Generator().manual_seed(1)
    start = target.sample((1, 1, 1000), generator)
    jump, acceptance, evaluations = mean_squared_jump(kernel, target, start, generator, 60)
    assert evaluations == 60
    assert float(acceptance) == pytest.approx(0.574, abs=0.05)
    assert float(jump) == pytest.approx(report["mean_squared_jump"][best], rel=0.15)


def test_what_is_given_is_not_tuned() -> None:
    target, generator = random_target(Binary(3)), torch.Generator().manual_seed(0)
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
    generator = torch.Generator().manual_seed(0)
    start = target.sample((2, 1, 2000), generator)
    jumps, _, _ = mean_squared_jump(kernel, target, start, generator, 200)
    assert jumps.tolist() == pytest.approx([expected, expected], rel=0.02)


def test_on_a_ladder_the_step_size_is_tuned_and_balancing_must_be_given() -> None:
    target, generator = random_target(Binary(3)), torch.Generator().manual_seed(0)
    inner = tunable(AB, balancing=0.7)
    tempering = tunable(ParallelTempering, inner, ladder=[1.0, 0.5], step_size="auto").tuned(
        target, generator
    )
    state = tempering.init(target, target.initial((2, 1, 5), generator), BETA)
    _, info = tempering.step(target, state, BETA, generator)
    assert info.acceptance.shape == (1, 5)
    with pytest.raises(ValueError, match=r"^balancing must be a number from 0\.5 to 1 inside a ladder"):
        configured(ParallelTempering, tunable(AB), ladder=[1.0, 0.5], step_size=2.0)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "wide", True, [1.0]])
def test_refuses_a_step_size_that_is_not_positive(value: object) -> None:
    with pytest.raises(ValueError, match=r"^step_size must be a positive number or 'auto', .* was given$"):
        configured(AB, step_size=value)


@pytest.mark.parametrize("value", [0.49, 1.01, float("nan"), "half", True, None])
def test_refuses_a_balancing_constant_out_of_range(value: object) -> None:
    message = re.escape(f"balancing must be a number from 0.5 to 1 or 'auto', {value!r} was given")
    with pytest.raises(ValueError, match=f"^{message}$"):
        configured(AB, balancing=value)


@pytest.mark.parametrize("value", [0, 1, float("nan"), "high", True])
def test_refuses_an_acceptance_out_of_range(value: object) -> None:
    with pytest.raises(ValueError, match=r"^acceptance must be a number from 0\.01 to 0\.99, .* was given$"):
        configured(AB, acceptance=value)


def test_a_kernel_takes_no_auto() -> None:
    assert tunable(AB).open == ("step_size", "balancing")
    with pytest.raises(ValueError, match=r"^step_size must be a positive number, 'auto' was given$"):
        AB("auto", 0.5)  # type: ignore[arg-type]


def test_refuses_the_reals() -> None:
    target = random_target(Binary(3))
    target.space = Real(3)  # type: ignore[assignment]
    with pytest.raises(ValueError, match=r"binary, ordinal or categorical space"):
        tunable(AB).check(target)
