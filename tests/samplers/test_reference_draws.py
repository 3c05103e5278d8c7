"""The kernels of the reference rows: independent exact draws and independent uniform draws."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from samplers.kernel import Kernel
from samplers.reference.reference_draws import ExactDraws, UniformDraws
from targets.randomness import Streams
from targets.spaces import Binary, Discrete, Real
from targets.synthetic.bernoulli4 import Bernoulli4
from targets.target import Target
from tests.support.checks import dkw_band, invariance, largest_gap, sampled_rows
from tests.support.small_targets import SPACES, random_target

BETA = torch.ones((), dtype=torch.float64)


class Unsampled(Target):
    """A target that can only be evaluated."""

    def __init__(self, space: Binary | Real) -> None:
        super().__init__()
        self.space = space

    def log_prob(self, theta: Tensor) -> Tensor:
        return theta.sum(-1)


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_exact_draws_follow_the_target_from_everywhere(space: Discrete) -> None:
    """200,000 draws from each state; false alarm 1e-6 (DKW)."""
    target = random_target(space, seed=1)
    frequencies = sampled_rows(ExactDraws(), target, 1.0, 200_000)
    rows = target.probabilities().expand(space.size, space.size)
    assert largest_gap(frequencies, rows) <= dkw_band(200_000, space.size)
    assert invariance(ExactDraws(), target, 1.0) <= 1e-12


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_uniform_draws_are_uniform_from_everywhere(space: Discrete) -> None:
    """200,000 draws from each state; false alarm 1e-6 (DKW)."""
    target = random_target(space, seed=1)
    frequencies = sampled_rows(UniformDraws(), target, 1.0, 200_000)
    rows = torch.full((space.size, space.size), 1 / space.size, dtype=torch.float64)
    assert largest_gap(frequencies, rows) <= dkw_band(200_000, space.size)
    assert invariance(UniformDraws(), target, 1.0) > 0.01


@pytest.mark.parametrize("kernel", [ExactDraws(), UniformDraws()], ids=["exact", "uniform"])
def test_a_draw_is_free_and_its_log_density_true(kernel: Kernel) -> None:
    target, generator = random_target(Binary(3)), Streams([0, 1], "chain")
    state = kernel.init(target, target.initial((2, 5), generator), BETA)
    after, info = kernel.step(target, state, BETA, generator)
    assert after.theta.shape == (2, 5, 3)
    assert torch.equal(after.log_prob, target.log_prob(after.theta))
    assert info.evaluations == 0
    assert torch.equal(info.jump, target.space.hamming(state.theta, after.theta))


def test_draws_have_the_dtype_of_the_chains() -> None:
    target = Bernoulli4().to(torch.float32)
    state = ExactDraws().init(target, target.initial((5,), torch.Generator()), torch.ones(()))
    after, _ = ExactDraws().step(target, state, torch.ones(()), torch.Generator())
    assert after.theta.dtype == after.log_prob.dtype == torch.float32


def test_only_exact_draws_are_marked_exact() -> None:
    assert ExactDraws().exact
    assert not UniformDraws().exact


def test_refuses_a_target_that_cannot_be_sampled() -> None:
    with pytest.raises(ValueError, match=r"^exact_draws needs a target .*, Unsampled cannot$"):
        ExactDraws().init(Unsampled(Binary(3)), torch.zeros(2, 3), BETA)


def test_refuses_other_temperatures() -> None:
    target = random_target(Binary(3))
    betas = torch.tensor([1.0, 0.5]).reshape(2, 1, 1)
    with pytest.raises(ValueError, match=r"^exact_draws draws from the target at beta 1 only"):
        ExactDraws().init(target, target.initial((2, 1, 4), torch.Generator()), betas)


def test_there_are_no_uniform_draws_on_the_reals() -> None:
    with pytest.raises(ValueError, match=r"^uniform_draws needs a binary, ordinal or categorical space"):
        UniformDraws().init(Unsampled(Real(3)), torch.zeros(2, 3), BETA)
