"""Block Gibbs on a restricted Boltzmann machine beyond exactness: its acceptance, its ladders, its cache."""

from __future__ import annotations

import pytest
import torch

from metrics.enumeration.transition_matrix import (
    invariance_error,
    tempered_probabilities,
    total_variation,
    transition_matrix,
)
from samplers import ParallelTempering, RBMGibbs
from samplers.discrete.rbm_gibbs import HIDDEN_LOGITS
from samplers.tensor_tree import tensors
from targets.randomness import Streams
from tests.support.steps.stepping import ONE, seeded
from tests.support.targets.small_targets import SPACES, random_target, small_rbm

TARGET = small_rbm()


def test_without_its_acceptance_tempered_block_gibbs_would_be_another_sampler() -> None:
    """The proposal is reversible for mu_beta, which is far from exp(beta U): the correction is needed."""
    states = TARGET.space.states()
    beta = 0.5
    logits = TARGET.hidden_logits(states)
    mu = (torch.nn.functional.softplus(beta * logits).sum(-1) + beta * states @ TARGET.visible_bias).softmax(
        0
    )
    hidden = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * TARGET.n_hidden)
    joint = beta * (hidden @ logits.T + (states @ TARGET.visible_bias))
    given_visible, given_hidden = joint.softmax(0), joint.softmax(1)
    proposal = given_visible.T @ given_hidden
    assert invariance_error(proposal, mu) <= 1e-14
    assert total_variation(mu, tempered_probabilities(TARGET, beta)) > 0.02
    tempered = torch.tensor(beta, dtype=torch.float64)
    matrix = transition_matrix(RBMGibbs(), TARGET, beta)
    distribution = tempered_probabilities(TARGET, beta)
    excess = distribution.log() - mu.log()
    accepted = proposal * (excess.unsqueeze(0) - excess.unsqueeze(1)).clamp(max=0.0).exp()
    off = 1.0 - torch.eye(len(distribution), dtype=torch.float64)
    torch.testing.assert_close(matrix * off, accepted * off, atol=1e-14, rtol=0)
    flow = distribution.unsqueeze(1) * matrix
    torch.testing.assert_close(flow, flow.T, atol=1e-15, rtol=0)
    start = RBMGibbs().init(TARGET, states, tempered)
    _, info = RBMGibbs().step(TARGET, start, tempered, seeded(0))
    assert info.acceptance.min() < 0.95


def test_at_the_cold_rung_nothing_is_ever_rejected() -> None:
    """To the last bit, in float32 and for a batch of betas of which one is 1."""
    target = small_rbm(50, 37, scale=3.0).float()
    betas = torch.tensor([1.0, 0.5]).reshape(2, 1, 1)
    generator = Streams([0], "chain")
    state = RBMGibbs().init(target, target.initial((2, 1, 64), generator), betas)
    for _ in range(20):
        state, info = RBMGibbs().step(target, state, betas, generator)
        assert (info.acceptance[0] == 1.0).all()
        assert (info.acceptance[1] < 1.0).any()
        assert info.evaluations == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_prepared_for_one_it_takes_the_same_steps_to_the_last_bit(dtype: torch.dtype) -> None:
    target = small_rbm(50, 37, scale=3.0).to(dtype=dtype)
    one = torch.ones((), dtype=dtype)
    plain, prepared = RBMGibbs(), RBMGibbs().prepared(target, one)
    assert RBMGibbs().prepared(target, 0.5 * one).at_one is None
    theta = target.initial((1, 64), Streams([0], "start"))
    here, there = plain.init(target, theta, one), prepared.init(target, theta, one)
    generator, other = Streams([0], "chain"), Streams([0], "chain")
    for _ in range(20):
        here, info = plain.step(target, here, one, generator)
        there, said = prepared.step(target, there, one, other)
        for one_of, other_of in zip(tensors((here, info)), tensors((there, said)), strict=True):
            assert torch.equal(one_of, other_of)
    with pytest.raises(ValueError, match="beta must be the inverse temperature that the kernel was prepared"):
        prepared.step(target, there, 0.5 * one, other)


def test_a_swap_moves_the_hidden_logits_with_theta() -> None:
    sampler = ParallelTempering(RBMGibbs(), ladder=[1.0, 0.6, 0.3])
    generator = Streams([0, 1], "chain")
    state = sampler.init(TARGET, TARGET.initial((3, 2, 20), generator), ONE)
    swaps = 0
    for _ in range(20):
        state, info = sampler.step(TARGET, state, ONE, generator)
        swaps += int(info.swap.accepted.sum())
    assert swaps > 100
    torch.testing.assert_close(state.log_prob, TARGET.log_prob(state.theta))
    torch.testing.assert_close(state.aux[HIDDEN_LOGITS], TARGET.hidden_logits(state.theta))


def test_a_nan_weight_stays_visible_and_is_rejected() -> None:
    target = small_rbm(4, 3)
    state = RBMGibbs().init(target, target.space.states(), ONE)
    target.hidden_bias[0] = torch.nan
    after, info = RBMGibbs().step(target, state, ONE, seeded(0))
    assert info.acceptance.isnan().all()
    assert torch.equal(after.theta, state.theta)
    prepared = RBMGibbs().prepared(target, ONE)
    _, info = prepared.step(target, prepared.init(target, target.space.states(), ONE), ONE, seeded(0))
    assert info.acceptance.isnan().all()


def test_what_cannot_be_served_is_refused_in_one_sentence() -> None:
    other, large = random_target(SPACES["binary"]), small_rbm(3, 15)
    with pytest.raises(ValueError, match=r"rbm_gibbs needs a restricted Boltzmann machine .* Quadratic was"):
        RBMGibbs().check(other)
    with pytest.raises(ValueError, match="restricted Boltzmann machine"):
        RBMGibbs().init(other, torch.zeros(1, 3), ONE)
    start = RBMGibbs().init(large, large.space.states(), ONE)
    with pytest.raises(ValueError, match="n_hidden at most 14"):
        RBMGibbs().log_transition(large, start, start.theta, ONE)


def test_states_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^states must be floating-point numbers of shape \(\*batch, 3\)"):
        RBMGibbs().init(small_rbm(3, 4), torch.zeros(5, 4), torch.ones(()))
