"""Simulated tempering: the joint distribution on levels and states by enumeration, and what it refuses."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from metrics.enumeration.simulated_transition import joint_distribution, simulated_matrix
from metrics.enumeration.transition_matrix import invariance_error, stationary, total_variation
from runner.files.checkpoint import from_plain, to_plain
from samplers import (
    DMALA,
    DULA,
    PAS,
    GaussianWalk,
    Gibbs,
    Kernel,
    MetropolisHastings,
    ParallelTempering,
    RandomWalk,
    SimulatedAnnealing,
    SimulatedTempering,
    State,
)
from samplers.compiling.counter_streams import CounterStreams
from samplers.compiling.traced_step import TracedStep
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.tempering.simulated.simulated_tempering import LEVEL
from targets import Binary, GaussianMixture, Ordinal, Streams
from targets.synthetic.independent import IndependentBits
from tests.support.checks import dkw_band, largest_gap
from tests.support.steps.counting_walk import CountingWalk, require_counted
from tests.support.steps.stepping import ONE, seeded, walked
from tests.support.targets.level_log_partitions import level_log_partitions
from tests.support.targets.small_targets import random_target

TARGETS = {
    "binary": random_target(Binary(3), seed=5, roughness=2.0),
    "ordinal": random_target(Ordinal(2, 4), seed=3),
}
LADDER = [1.0, 0.5, 0.0]
WRONG = [0.0, 2.0, -1.0]
STEPS = [0.4, 1.0, 5.0]
MIXTURE = GaussianMixture([[-2.0, 0.0], [2.0, 1.0]], covariance=0.5).double()


def right(space: str) -> list[float]:
    return level_log_partitions(TARGETS[space], torch.tensor(LADDER, dtype=torch.float64)).tolist()


def tempering(kernel: Kernel, log_partition: list[float], rate: float = 0.5) -> SimulatedTempering:
    sizes = STEPS if isinstance(kernel, (DMALA, DULA)) else None
    return SimulatedTempering(kernel, LADDER, log_partition, rate, step_size=sizes)


@pytest.mark.parametrize("wrong", [False, True], ids=["right", "wrong"])
@pytest.mark.parametrize("space", TARGETS)
@pytest.mark.parametrize("kernel", [DMALA(1.0), Gibbs(), RandomWalk()], ids=["dmala", "gibbs", "walk"])
def test_the_joint_distribution_is_left_invariant_whatever_the_partition_functions(
    kernel: Kernel, space: str, wrong: bool
) -> None:
    target = TARGETS[space]
    sampler = tempering(kernel, WRONG if wrong else right(space), 0.1 if wrong else 0.5)
    distribution = joint_distribution(sampler, target)
    assert sampler.exact
    matrix = simulated_matrix(sampler, target)
    torch.testing.assert_close(matrix.sum(-1), torch.ones(len(matrix), dtype=torch.float64))
    assert invariance_error(matrix, distribution) <= 1e-12
    by_level = distribution.reshape(3, -1)
    cold = by_level[0] / by_level[0].sum()
    torch.testing.assert_close(cold, target.probabilities(), atol=1e-12, rtol=0)
    given = torch.tensor(WRONG if wrong else right(space), dtype=torch.float64)
    shares = (torch.tensor(right(space), dtype=torch.float64) - given).softmax(0)
    torch.testing.assert_close(by_level.sum(1), shares, atol=1e-12, rtol=0)


def test_an_inexact_kernel_makes_the_chain_inexact() -> None:
    target = TARGETS["binary"]
    sampler = tempering(DULA(1.0), right("binary"))
    assert not sampler.exact
    own = stationary(simulated_matrix(sampler, target))
    assert total_variation(own, joint_distribution(sampler, target)) > 0.01


@pytest.mark.parametrize(("kernel", "wrong"), [(DMALA(1.0), True), (Gibbs(), False)], ids=["dmala", "gibbs"])
def test_steps_are_drawn_from_the_enumerated_joint_rows(kernel: Kernel, wrong: bool) -> None:
    """False alarm: 1e-6 a test, by the Dvoretzky-Kiefer-Wolfowitz bound over all 24 rows."""
    target, draws = TARGETS["binary"], 30_000
    sampler = tempering(kernel, WRONG if wrong else right("binary"), rate=0.3)
    matrix = simulated_matrix(sampler, target)
    states = target.space.states()
    theta = states.repeat(3, 1).unsqueeze(1).expand(24, draws, 3).contiguous()
    state = sampler.init(target, theta, ONE)
    state.aux[LEVEL].copy_(torch.arange(3).repeat_interleave(8).unsqueeze(1).expand(24, draws))
    state, info = sampler.step(target, state, ONE, seeded(2))
    assert info.level is not None
    place = info.level * 8 + target.space.index(state.theta)
    counts = torch.stack([torch.bincount(row, minlength=24) for row in place])
    assert largest_gap(counts / draws, matrix) <= dkw_band(draws, 24)
    assert torch.equal(info.level, state.aux[LEVEL])


def test_chains_start_hot_move_in_level_or_space_and_keep_their_level_when_refreshed() -> None:
    target = TARGETS["ordinal"]
    sampler = tempering(DMALA(1.0), right("ordinal"))
    generator = Streams([1, 2], "chain")
    state = sampler.init(target, target.initial((2, 50), generator), ONE)
    assert (state.aux[LEVEL] == 2).all()
    for _ in range(40):
        before = state
        state, info = sampler.step(target, state, ONE, generator)
        between = state.aux[LEVEL] != before.aux[LEVEL]
        assert (info.jump[between] == 0).all()
        moved = (state.theta != before.theta).sum(-1)
        assert torch.equal(info.jump, moved.to(info.jump))
    assert len(state.aux[LEVEL].unique()) == 3
    anew = sampler.refreshed(target, state, ONE)
    assert torch.equal(anew.aux[LEVEL], state.aux[LEVEL])


@pytest.mark.parametrize(
    "kernel",
    [
        SimulatedTempering(CountingWalk(), LADDER, log_partition=right("binary")),
        ParallelTempering(CountingWalk(), LADDER),
    ],
    ids=["simulated", "parallel"],
)
def test_a_whole_number_of_a_chain_stays_with_its_state(kernel: Kernel) -> None:
    target, generator = TARGETS["binary"], Streams([1], "chain")
    state = kernel.init(target, target.initial((*kernel.axes, 1, 20), generator), ONE)
    for _ in range(10):
        state, _ = kernel.step(target, state, ONE, generator)
    require_counted(state)


def test_each_level_has_its_own_step_size() -> None:
    level = torch.tensor([[2, 0, 1, 1]])
    kernel = tempering(DMALA(7.0), WRONG).at(level)
    assert isinstance(kernel, MetropolisHastings)
    assert isinstance(kernel.proposal, LangevinProposal)
    assert kernel.proposal.step_size.tolist() == [[STEPS[2], STEPS[0], STEPS[1], STEPS[1]]]
    shared = SimulatedTempering(DMALA(7.0), LADDER, log_partition=WRONG, step_size=0.3)
    assert shared.at(level).proposal.step_size.tolist() == [[0.3] * 4]
    assert SimulatedTempering(DMALA(7.0), LADDER, log_partition=WRONG).at(level).step_size == 7.0
    own = SimulatedTempering(DMALA(torch.tensor(STEPS, dtype=torch.float64)), LADDER, log_partition=WRONG)
    assert own.at(level).proposal.step_size.tolist() == kernel.proposal.step_size.tolist()
    with pytest.raises(ValueError, match=r"^step_size must be one .* of the 3 rungs of the ladder"):
        SimulatedTempering(DMALA(torch.tensor(STEPS[:2])), LADDER, log_partition=WRONG)


def test_chains_at_the_cold_level_follow_the_mixture() -> None:
    """Mean and energy of 2,000 chains within 5.3 standard errors each: false alarm 6e-7 for the test.

    Each chain contributes its last state, if it is cold, so that the draws are independent.
    """
    sampler = SimulatedTempering(GaussianWalk(1.5), [1.0, 0.6, 0.3], [0.0, 0.6, 1.4], step_size=1.5)
    generator = seeded(4)
    state = sampler.init(MIXTURE, MIXTURE.initial((1, 6_000), generator), ONE)
    state, _ = walked(sampler, MIXTURE, state, 300, generator, ONE)
    cold = state.aux[LEVEL] == 0
    draws, fresh = state.theta[cold], MIXTURE.sample((100_000,), generator)
    assert len(draws) > 1_000

    def off(ours: Tensor, theirs: Tensor) -> Tensor:
        error = (ours.var(0) / len(ours) + theirs.var(0) / len(theirs)).sqrt()
        return ((ours.mean(0) - theirs.mean(0)) / error).abs().max()

    assert off(draws, fresh) < 5.3
    assert off((draws - MIXTURE.mean()).square(), (fresh - MIXTURE.mean()).square()) < 5.3
    assert off(state.log_prob[cold], MIXTURE.log_prob(fresh)) < 5.3
    # All levels together have another distribution, which the test detects.
    assert off(state.log_prob[0], MIXTURE.log_prob(fresh)) > 20


def test_a_run_resumed_from_its_checkpoint_ends_where_an_unbroken_one_does() -> None:
    target, sampler = TARGETS["binary"], tempering(DMALA(1.0), right("binary"))
    generator = Streams([4, 9], "chain")
    state = sampler.init(target, target.initial((2, 50), generator), ONE)

    def walk(state: State, generator: Streams) -> State:
        for _ in range(20):
            state, _ = sampler.step(target, state, ONE, generator)
        return state

    state = walk(state, generator)
    saved, streams = to_plain(state), generator.state_dict()
    unbroken = walk(state, generator)
    other = Streams([0, 1], "chain")
    fresh = sampler.init(target, target.initial((2, 50), other), ONE)
    other.load_state_dict(streams)
    resumed = walk(from_plain(fresh, saved), other)
    assert torch.equal(resumed.theta, unbroken.theta)
    assert torch.equal(resumed.aux[LEVEL], unbroken.aux[LEVEL])
    assert not torch.equal(unbroken.aux[LEVEL], state.aux[LEVEL])


@pytest.mark.parametrize("replacement", [True, False])
def test_paths_of_a_seed_do_not_depend_on_the_levels_of_others(replacement: bool) -> None:
    """The longest radius decides how many random numbers a step draws."""
    target = IndependentBits(64)
    kernel, ladder = PAS(1.0, replacement=replacement), [1.0, 0.9, 0.8]
    log_partition = [float(target.log_partition(beta)) for beta in ladder]
    sampler = SimulatedTempering(kernel, ladder, log_partition, 0.5, [1.0, 2.0, 5.0])
    walks = {}
    for seeds in ((3,), (3, 4)):
        state = sampler.start(target, torch.zeros(len(seeds), 10, 64).double(), ONE, Streams(seeds, "start"))
        walks[seeds] = walked(sampler, target, state, 40, Streams(seeds, "chain"))[0]
    alone, beside = walks.values()
    assert torch.equal(alone.theta[0], beside.theta[0])
    assert torch.equal(alone.aux[LEVEL][0], beside.aux[LEVEL][0])
    assert len(beside.aux[LEVEL].unique()) > 1


@pytest.mark.parametrize("annealed", [True, False])
def test_traced_paths_have_the_radius_of_where_chains_are_now(annealed: bool) -> None:
    """The trace is made where all chains are hot, with a smaller radius."""
    target, one = IndependentBits(64).float(), torch.ones(())
    sizes = [1.0, 6.0] if annealed else [6.0, 1.0]
    around = (
        SimulatedAnnealing(PAS(1.0), 20, step_size=sizes)
        if annealed
        else SimulatedTempering(PAS(1.0), [1.0, 0.1], [0.0, -10.0], 0.5, sizes)
    )
    kernel = around.to(one)
    streams = CounterStreams([0], "chain")
    state = kernel.start(target, target.initial((1, 200), streams), one, streams)
    traced = TracedStep(kernel, target, state, one, streams)
    jumps = []
    for _ in range(60):
        state, info = traced(state)
        jumps.append(float(info.jump.max()))
    assert max(jumps) > 6.0
