"""Draws from the held-out ground truth as a kernel."""

from __future__ import annotations

import pytest
import torch

from samplers.ground_truth_draws import GroundTruthDraws
from targets.randomness import Streams
from targets.rbm import RBM
from targets.spaces import Binary
from tests.support.no_host_sync import NoHostSync
from tests.support.small_targets import random_target

ONE = torch.ones((), dtype=torch.float64)


def machine(draws: int = 8) -> RBM:
    """A machine that holds out the first `draws` of its 16 states."""
    rbm = RBM(4, 2).requires_grad_(False)
    rbm.held_out = rbm.space.states()[:draws]
    return rbm


def test_each_held_out_draw_comes_equally_often_and_no_other() -> None:
    """80,000 picks of 8: chi-square with 7 degrees of freedom exceeds 40.6 with probability 1e-6."""
    rbm, kernel, generator = machine(), GroundTruthDraws(), torch.Generator().manual_seed(0)
    state = kernel.init(rbm, rbm.initial((80_000,), generator), ONE)
    after, _ = kernel.step(rbm, state, ONE, generator)
    counts = rbm.space.index(after.theta).bincount(minlength=16)
    assert counts[8:].sum() == 0
    assert ((counts[:8] - 10_000) ** 2 / 10_000).sum().item() < 40.6


def test_a_draw_is_free_and_its_log_density_true() -> None:
    rbm, kernel, generator = machine(), GroundTruthDraws(), Streams([0, 1], "chain")
    theta = rbm.initial((2, 5), generator)
    state = kernel.init(rbm, theta, ONE)
    assert torch.equal(state.theta, theta)
    with NoHostSync():
        after, info = kernel.step(rbm, state, ONE, generator)
    assert after.theta.shape == (2, 5, 4)
    assert torch.equal(after.log_prob, rbm.log_prob(after.theta))
    assert torch.equal(info.jump, rbm.space.hamming(theta, after.theta))
    assert (info.evaluations, kernel.exact) == (0, False)


def test_it_starts_before_the_ground_truth_is_there_and_steps_only_after() -> None:
    rbm, kernel, generator = machine(0), GroundTruthDraws(), torch.Generator()
    kernel.check(rbm)
    state = kernel.init(rbm, rbm.initial((3,), generator), ONE)
    with pytest.raises(ValueError, match="needs the target's held_out draws, which are still empty"):
        kernel.step(rbm, state, ONE, generator)
    rbm.held_out = machine().held_out
    kernel.step(rbm, state, ONE, generator)


def test_refuses_other_targets_and_temperatures() -> None:
    other, kernel = random_target(Binary(3)), GroundTruthDraws()
    message = f"needs a target with held_out draws, {type(other).__name__} has none"
    with pytest.raises(ValueError, match=message):
        kernel.check(other)
    with pytest.raises(ValueError, match=message):
        kernel.init(other, torch.zeros(2, 3), ONE)
    with pytest.raises(ValueError, match="at beta 1 only, other inverse temperatures were given"):
        kernel.init(machine(), torch.zeros(2, 4).double(), torch.tensor([1.0, 0.5]).double())
