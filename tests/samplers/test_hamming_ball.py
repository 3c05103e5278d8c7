"""Hamming ball and block Gibbs beyond exactness: what a block is, what a step costs, what is refused."""

from __future__ import annotations

import pytest
import torch

from metrics.enumeration.transition_matrix import transition_matrix
from samplers.discrete.block_gibbs import BlockGibbs
from samplers.discrete.gibbs import Gibbs
from samplers.discrete.hamming_ball import MOST_CANDIDATES, HammingBall
from targets.spaces import Binary, Real
from targets.synthetic.bernoulli4 import Bernoulli4
from tests.support.checks import invariance
from tests.support.small_targets import SPACES, random_target

ONE = torch.ones((), dtype=torch.float64)


@pytest.mark.parametrize("space", SPACES)
def test_block_gibbs_of_one_coordinate_is_gibbs_with_a_random_scan(space: str) -> None:
    target = random_target(SPACES[space], seed=3)
    ours, theirs = transition_matrix(BlockGibbs(1), target, 0.7), transition_matrix(Gibbs(), target, 0.7)
    torch.testing.assert_close(ours, theirs, atol=1e-14, rtol=0)


@pytest.mark.parametrize("space", SPACES)
def test_a_block_of_everything_draws_from_the_target(space: str) -> None:
    target = random_target(SPACES[space], seed=3)
    matrix = transition_matrix(BlockGibbs(SPACES[space].d), target)
    torch.testing.assert_close(matrix, target.probabilities().expand_as(matrix), atol=1e-14, rtol=0)


def test_the_published_setting_is_exact_on_a_target_with_fewer_coordinates() -> None:
    target = Bernoulli4().double()
    state = HammingBall().init(target, target.space.states(), ONE)
    _, info = HammingBall().step(target, state, ONE, torch.Generator().manual_seed(0))
    assert info.evaluations == 5
    assert invariance(HammingBall(), target, 0.5) <= 1e-12


@pytest.mark.parametrize(("block", "radius", "states"), [(10, 1, 11), (4, 2, 11), (3, 3, 8), (1, 1, 2)])
def test_a_step_evaluates_the_states_of_the_ball(block: int, radius: int, states: int) -> None:
    target, generator = random_target(Binary(12), seed=3), torch.Generator().manual_seed(0)
    kernel = HammingBall(block, radius)
    state = kernel.init(target, target.initial((50,), generator), ONE)
    after, info = kernel.step(target, state, ONE, generator)
    assert info.evaluations == states
    assert int(info.jump.max()) <= min(block, 2 * radius)
    torch.testing.assert_close(after.log_prob, target.log_prob(after.theta))


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="radius must be at most block_size, which is 3, 4 was given"):
        HammingBall(block_size=3, radius=4)
    with pytest.raises(ValueError, match="block_size must be a whole number of at least 1, 0 was given"):
        BlockGibbs(0)
    target = random_target(Binary(30), seed=3)
    with pytest.raises(ValueError, match=f"make 131072 states .* the limit is {MOST_CANDIDATES}"):
        BlockGibbs(17).check(target)
    target.space = Real(3)  # type: ignore[assignment]
    with pytest.raises(ValueError, match="BlockGibbs needs a binary, ordinal or categorical space"):
        BlockGibbs(1).check(target)
