"""The kernels of the reference rows: independent exact draws and independent uniform draws."""

from __future__ import annotations

import pytest
import torch

from metrics.enumeration.transition_matrix import transition_matrix
from samplers import ExactDraws, UniformDraws
from targets import Binary, Discrete
from tests.support.checks import dkw_band, invariance, largest_gap, sampled_rows
from tests.support.targets.modes import Bare
from tests.support.targets.small_targets import SPACES, random_target

BETA = torch.ones((), dtype=torch.float64)


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_draws_follow_the_target_or_are_uniform_from_everywhere(space: Discrete) -> None:
    """40,000 draws from each state; false alarm 1e-6 (DKW)."""
    target, draws = random_target(space, seed=1), 40_000
    uniform = torch.full((space.size,), 1 / space.size, dtype=torch.float64)
    for kernel, row in ((ExactDraws(), target.probabilities()), (UniformDraws(), uniform)):
        matrix = transition_matrix(kernel, target)
        torch.testing.assert_close(matrix, row.expand_as(matrix), atol=1e-14, rtol=0)
        frequencies = sampled_rows(kernel, target, 1.0, draws)
        assert largest_gap(frequencies, matrix) <= dkw_band(draws, space.size)
        assert (invariance(kernel, target, 1.0) <= 1e-12) is kernel.exact


def test_targets_and_temperatures_that_cannot_be_served_are_refused() -> None:
    target, unsampled = random_target(Binary(3)), Bare(3)
    betas = torch.tensor([1.0, 0.5]).reshape(2, 1, 1)
    with pytest.raises(ValueError, match=r"^exact_draws needs a target .*, Bare cannot$"):
        ExactDraws().init(unsampled, torch.zeros(2, 3), BETA)
    with pytest.raises(ValueError, match=r"^exact_draws draws from the target at beta 1 only"):
        ExactDraws().init(target, target.initial((2, 1, 4), torch.Generator()), betas)
    state = UniformDraws().init(target, target.space.states(), BETA)
    with pytest.raises(ValueError, match=r"^Bare gives no exact probabilities$"):
        ExactDraws().log_transition(unsampled, state, state.theta, BETA)
