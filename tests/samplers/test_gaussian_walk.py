"""The steppable random walk on the reals: the same chain as `RandomWalk`, with a step size per chain."""

from __future__ import annotations

import pytest
import torch
from scipy.stats import multivariate_normal

from samplers.continuous.gaussian_random_walk import GaussianStep, GaussianWalk
from samplers.discrete.random_walk import RandomWalk
from samplers.kernel import State, evaluate
from samplers.tuning.configured import configured
from targets.randomness import Streams
from targets.spaces import Binary, Real
from targets.synthetic.gaussian_mixture import GaussianMixture
from tests.support.no_host_sync import NoHostSync
from tests.support.small_targets import random_target
from tests.support.tunable import tunable

TARGET = GaussianMixture([[-2.0, 0.0], [2.0, 1.0]], covariance=0.5).double()
ONE = torch.ones((), dtype=torch.float64)


def test_it_is_the_random_walk_of_one_step_size() -> None:
    ends = []
    for kernel in (GaussianWalk(0.7), RandomWalk(0.7)):
        generator = Streams([3, 4], "chain")
        state = kernel.init(TARGET, TARGET.initial((2, 20), generator), ONE)
        for _ in range(30):
            state, info = kernel.step(TARGET, state, 0.6 * ONE, generator)
        ends.append((state.theta, info.acceptance))
    for ours, theirs in zip(*ends, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=0)


def test_its_density_is_the_normal_one_and_that_of_its_draws() -> None:
    sizes = torch.tensor([0.3, 2.0], dtype=torch.float64)
    proposal, space = GaussianStep(sizes), Real(2)
    source = evaluate(TARGET, torch.tensor([[0.0, 1.0], [3.0, -1.0]], dtype=torch.float64), gradient=False)
    drawn, log_q = proposal.propose(space, source, ONE, torch.Generator().manual_seed(1))
    torch.testing.assert_close(proposal.log_prob(space, source, drawn, ONE), log_q)
    for chain in range(2):
        exact = multivariate_normal(source.theta[chain].numpy(), float(sizes[chain]) ** 2)
        assert float(log_q[chain]) == pytest.approx(exact.logpdf(drawn[chain].numpy()), abs=1e-12)


def test_each_chain_has_its_own_step_size() -> None:
    sizes = torch.tensor([[1e-3, 1.0]], dtype=torch.float64)
    kernel = GaussianWalk(sizes)
    generator = Streams([0], "chain")
    state = kernel.init(TARGET, TARGET.initial((1, 2), generator), ONE)
    with NoHostSync():
        after, info = kernel.step(TARGET, state, torch.zeros_like(sizes), generator)
    assert info.evaluations == 1
    near, far = (after.theta - state.theta).norm(dim=-1)[0]
    assert 0 < near < 0.01
    assert far > 0.1


def test_tuning_brings_the_acceptance_to_what_is_wanted() -> None:
    """Mean of 2,000 chains after 50 steps: the standard error is 0.007, the pilot's about 0.01."""
    kernel = tunable(GaussianWalk).tuned(TARGET, Streams([0], "tuning"))
    generator = Streams([0], "chain")
    state = kernel.init(TARGET, TARGET.sample((1, 2_000), generator), ONE)
    for _ in range(50):
        state, info = kernel.step(TARGET, state, ONE, generator)
    assert float(info.acceptance.mean()) == pytest.approx(0.234, abs=0.05)


def test_what_it_cannot_do_is_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match="step_size must be a positive number or 'auto'"):
        configured(GaussianWalk, step_size=-1.0)
    with pytest.raises(ValueError, match="acceptance"):
        configured(GaussianWalk, step_size=1.0, acceptance=1.5)
    binary = random_target(Binary(3))
    with pytest.raises(ValueError, match="gaussian_walk needs a real space, not Binary"):
        GaussianWalk(1.0).init(binary, torch.zeros((1, 3), dtype=torch.float64), ONE)
    assert isinstance(GaussianWalk(1.0).init(TARGET, torch.zeros((1, 2), dtype=torch.float64), ONE), State)
