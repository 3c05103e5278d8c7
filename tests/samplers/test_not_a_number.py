"""Densities, gradients and step sizes that go wrong are seen or refused, and nothing crashes."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from metrics import run_chains
from samplers import (
    DMALA,
    DULA,
    EDMALA,
    PAS,
    BlockGibbs,
    Gibbs,
    HammingBall,
    Kernel,
    ParallelTempering,
    RandomWalk,
)
from samplers.inverse_temperatures import tempered_log_ratio
from samplers.proposals.tabulated_langevin import tabulated
from targets import FunctionTarget, MixtureOfGaussians, Ordinal, Streams, Tabulated
from tests.support.steps.stepping import ONE


def repr_of(kernel: Kernel) -> str:
    return type(kernel).__name__


def torn(theta: Tensor) -> Tensor:
    """NaN where the first coordinate is 0, else flat."""
    return (0.0 * theta.log())[..., 0]


@pytest.mark.parametrize("kernel", [Gibbs(), HammingBall(), BlockGibbs(1)], ids=repr_of)
def test_one_nan_among_the_states_is_seen_and_takes_no_weight_from_the_others(kernel: Kernel) -> None:
    target = FunctionTarget(torn, Ordinal(2, 5))
    state = kernel.init(target, torch.full((1, 4_000, 2), 2.0), torch.ones(()))
    after, info = kernel.step(target, state, torch.ones(()), Streams([0], "chain"))
    assert after.log_prob.isfinite().all()
    assert info.acceptance.isnan().any()
    moved = after.theta[..., 0][after.theta[..., 0] != 2.0]
    assert set(moved.tolist()) == {1.0, 3.0, 4.0}
    assert 0.27 < float((moved == 1.0).double().mean()) < 0.4


@pytest.mark.parametrize("kernel", [DMALA(0.5), EDMALA(0.5, 0.5), PAS(1.0)], ids=repr_of)
def test_a_gradient_that_is_not_finite_rejects(kernel: Kernel) -> None:
    """That of the square root is infinite at level 0, where the density is finite."""
    target = FunctionTarget(lambda theta: theta.sqrt().sum(-1), Ordinal(2, 7))
    streams, one = Streams([1], "chain"), torch.ones(())
    state = kernel.start(target, torch.full((1, 8, 2), 3.0), one, streams)
    for _ in range(50):
        state, _ = kernel.step(target, state, one, streams)
        assert state.theta.min() > 0.0
    with pytest.raises(ValueError, match=r"or its gradient, was NaN or infinite in \d of 8 chains"):
        run_chains(target, kernel, chains=8, steps=50, seed=1)


def test_the_acceptance_of_a_random_walk_at_beta_zero_is_a_number() -> None:
    log_prob = torch.tensor([0.0, 0.0, -torch.inf], dtype=torch.float64)
    target = Tabulated(Ordinal(1, 3), log_prob, torch.zeros(3, 1))
    for beta in (ONE, 0.0 * ONE):
        state = RandomWalk(1).init(target, torch.ones(1, 500, 1, dtype=torch.float64), beta)
        after, info = RandomWalk(1).step(target, state, beta, Streams([0], "chain"))
        assert set(info.acceptance.unique().tolist()) == {0.0, 1.0}
        assert float(after.theta.max()) == 1.0


def test_step_sizes_by_chain_have_no_tables() -> None:
    """They were those of the first batch axis, whatever axis they belong to."""
    target, sizes = MixtureOfGaussians(8).double(), torch.tensor([25.0, 100.0, 400.0], dtype=torch.float64)
    assert tabulated(DMALA(sizes).proposal, target, ONE) is None
    assert tabulated(DMALA(25.0).to(ONE).proposal, target, ONE) is not None
    ladder = ParallelTempering(DMALA(25.0), [1.0, 0.5, 0.2], step_size=[25.0, 100.0, 400.0]).to(ONE)
    assert ladder.prepared(target, ONE).tables is not None
    assert run_chains(target, DMALA(sizes), chains=3, steps=10).draws.shape[0] == 3


@pytest.mark.parametrize("given", ["false", 1, None])
def test_adjusted_is_true_or_false(given: object) -> None:
    with pytest.raises(ValueError, match=r"adjusted must be true or false, .* was given"):
        DMALA(1.0, adjusted=given)  # type: ignore[arg-type]


def test_a_random_walk_has_one_reach_on_all_rungs() -> None:
    with pytest.raises(ValueError, match="step_size"):
        ParallelTempering(RandomWalk(1), [1.0, 0.5], step_size=2.0)


def test_the_tempered_log_ratio_lets_a_chain_leave_density_zero_and_keeps_nan() -> None:
    zero, number, nan = -torch.inf, 3.0, torch.nan
    cases = [(zero, number, torch.inf), (number, zero, zero), (zero, zero, zero), (number, nan, nan)]
    before, after, expected = torch.tensor([*cases, (zero, nan, nan)]).unbind(-1)
    for beta in (0.0, 0.5, 1.0):
        found = tempered_log_ratio(before, after, torch.tensor(beta))
        torch.testing.assert_close(found, expected, equal_nan=True)


def test_a_replica_at_density_zero_leaves_it_at_beta_zero() -> None:
    log_prob = torch.tensor([0.0, 0.0, -torch.inf], dtype=torch.float64)
    target = Tabulated(Ordinal(1, 3), log_prob, torch.zeros(3, 1))
    state = RandomWalk(1).init(target, torch.full((1, 500, 1), 2.0, dtype=torch.float64), 0.0 * ONE)
    after, info = RandomWalk(1).step(target, state, 0.0 * ONE, Streams([0], "chain"))
    assert info.acceptance.isfinite().all()
    assert float(after.theta.min()) == 1.0


def test_an_unadjusted_kernel_never_enters_a_state_of_probability_zero() -> None:
    log_prob = torch.tensor([0.0, -torch.inf, 0.0, 0.0], dtype=torch.float64)
    target = Tabulated(Ordinal(1, 4), log_prob, torch.zeros(4, 1))
    theta = target.initial((1, 500), Streams([0], "start"))
    state = DULA(5.0).init(target, theta, ONE)
    for _ in range(3):
        state, _ = DULA(5.0).step(target, state, ONE, Streams([0], "chain"))
    assert state.log_prob.isfinite().all()
