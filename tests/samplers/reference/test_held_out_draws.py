"""Draws from the held-out reference sample as a kernel."""

from __future__ import annotations

import pytest
import torch

from samplers.reference.held_out_draws import HeldOutDraws
from targets import RBM, Binary, Streams
from tests.support.steps.no_host_sync import NoHostSync
from tests.support.steps.stepping import ONE, seeded
from tests.support.targets.small_targets import random_target, small_rbm


def _empty() -> RBM:
    """An RBM whose reference sample is still to come."""
    rbm = small_rbm(4, 2, held_out=8)
    rbm.held_out = rbm.held_out[:0]
    return rbm


def rows_of_steps(rbm: RBM, chains: int, steps: int, seeds: int = 2) -> torch.Tensor:
    """Which held-out draw each chain got, ``(steps, seeds, chains)``."""
    kernel = HeldOutDraws()
    generator = Streams(range(seeds), "chain") if seeds < 9 else seeded(0)
    state, rows = kernel.init(rbm, rbm.initial((seeds, chains), generator), ONE), []
    for _ in range(steps):
        state, _ = kernel.step(rbm, state, ONE, generator)
        rows.append(rbm.space.index(state.theta))
    return torch.stack(rows)


def test_no_draw_comes_twice_in_a_step_nor_again_before_all_others() -> None:
    """5 chains, 13 draws: rounds end within steps."""
    rows = rows_of_steps(small_rbm(4, 2, held_out=13), chains=5, steps=26)
    for seed in range(2):
        for step in range(26):
            assert len(set(rows[step, seed].tolist())) == 5
            counts = rows[: step + 1, seed].flatten().bincount(minlength=13)
            assert len(counts) == 13
            assert counts.max() - counts.min() <= 1
    assert not torch.equal(rows[:, 0], rows[:, 1])
    assert not torch.equal(rows[:13], rows[13:])


def test_each_chain_gets_each_draw_equally_often() -> None:
    """Of 5 chains the first and the last, 8,000 seeds, in the second step, where a round of 8 ends.

    Chi-square with 7 degrees of freedom exceeds 45.0 with probability 1.4e-7; two of them.
    """
    rows = rows_of_steps(small_rbm(4, 2, held_out=8), chains=5, steps=2, seeds=8000)[1]
    for chain in (0, 4):
        counts = rows[:, chain].bincount(minlength=8)
        assert ((counts - 1000) ** 2 / 1000).sum().item() < 45.0


def test_more_chains_than_draws_repeat_them_as_little_as_possible() -> None:
    rows = rows_of_steps(small_rbm(4, 2, held_out=8), chains=20, steps=2)
    for seed in range(2):
        assert sorted(rows[0, seed].bincount(minlength=8).tolist()) == [2] * 4 + [3] * 4
        assert rows[:, seed].flatten().bincount(minlength=8).tolist() == [5] * 8


def test_a_refreshed_state_goes_on_with_the_round() -> None:
    rbm, kernel, generator = small_rbm(4, 2, held_out=8), HeldOutDraws(), Streams([0], "chain")
    state = kernel.init(rbm, rbm.initial((1, 4), generator), ONE)
    first, _ = kernel.step(rbm, state, ONE, generator)
    second, _ = kernel.step(rbm, kernel.refreshed(rbm, first, ONE), ONE, generator)
    both = torch.cat([rbm.space.index(first.theta), rbm.space.index(second.theta)], dim=-1)
    assert sorted(both.flatten().tolist()) == list(range(8))


def test_a_draw_is_free_and_its_log_density_true() -> None:
    rbm, kernel, generator = small_rbm(4, 2, held_out=8), HeldOutDraws(), Streams([0, 1], "chain")
    theta = rbm.initial((2, 5), generator)
    state = kernel.init(rbm, theta, ONE)
    assert torch.equal(state.theta, theta)
    with NoHostSync():
        after, info = kernel.step(rbm, state, ONE, generator)
    assert after.theta.shape == (2, 5, 4)
    assert torch.equal(after.log_prob, rbm.log_prob(after.theta))
    assert torch.equal(info.jump, rbm.space.hamming(theta, after.theta))
    assert (info.evaluations, kernel.exact) == (0, False)


def test_it_starts_before_the_reference_sample_is_there_and_steps_only_after() -> None:
    rbm, kernel, generator = _empty(), HeldOutDraws(), torch.Generator()
    kernel.check(rbm)
    state = kernel.init(rbm, rbm.initial((3,), generator), ONE)
    with pytest.raises(ValueError, match="needs the target's held_out draws, which are still empty"):
        kernel.step(rbm, state, ONE, generator)
    rbm.held_out = small_rbm(4, 2, held_out=8).held_out
    kernel.step(rbm, state, ONE, generator)


def test_refuses_other_targets_and_temperatures() -> None:
    other, kernel = random_target(Binary(3)), HeldOutDraws()
    message = f"needs a target with held_out draws, {type(other).__name__} has none"
    with pytest.raises(ValueError, match=message):
        kernel.check(other)
    with pytest.raises(ValueError, match=message):
        kernel.init(other, torch.zeros(2, 3), ONE)
    with pytest.raises(ValueError, match="at beta 1 only, other inverse temperatures were given"):
        kernel.init(
            small_rbm(4, 2, held_out=8), torch.zeros(2, 4).double(), torch.tensor([1.0, 0.5]).double()
        )
