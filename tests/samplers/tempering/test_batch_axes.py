"""Tempering takes any number of batch axes after that of the replicas; states without that are refused."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from samplers import (
    ACS,
    DMALA,
    MALA,
    ExactDraws,
    Gibbs,
    ParallelTempering,
    ReplicaExchangeLangevin,
    SimulatedTempering,
    Swaps,
    UniformDraws,
    configured,
)
from samplers.kernel import Kernel
from targets import Bernoulli4, MixtureOfGaussians, Streams, Target, stmh_two_modes
from tests.support.steps.stepping import ONE

LADDER = [1.0, 0.5, 0.2]
SHAPES = [(24,), (1, 24), (2, 12), (2, 3, 4), (1, 2, 3, 4)]


def tempered() -> dict[str, tuple[Target, Kernel]]:
    """Kernels of three replicas, with a target each."""
    four, grid = Bernoulli4().double(), MixtureOfGaussians(4)
    return {
        "dmala": (four, ParallelTempering(DMALA(0.4), LADDER)),
        "step sizes": (four, ParallelTempering(DMALA(0.4), LADDER, step_size=[0.2, 0.4, 0.8])),
        "tables": (grid, ParallelTempering(DMALA(20.0), LADDER, step_size=[20.0, 40.0, 80.0])),
        "cycle": (four, ParallelTempering(ACS(4, 0.6, 0.2, 0.5), LADDER)),
        "gibbs": (four, ParallelTempering(Gibbs(), LADDER)),
        "stochastic": (four, ParallelTempering(DMALA(0.4), LADDER, swap=Swaps(pairing="stochastic"))),
        "sequential": (four, ParallelTempering(DMALA(0.4), LADDER, swap=Swaps("released", "sequential"))),
        "replica exchange": (stmh_two_modes(2.0).double(), ReplicaExchangeLangevin(MALA(0.1), LADDER, 0.1)),
    }


def walked(target: Target, kernel: Kernel, batch: tuple[int, ...]) -> list[Tensor]:
    """Draws, acceptance and swaps of six steps of 24 chains, all chains in the last axis."""
    kernel = kernel.to(target.like()).prepared(target, ONE)
    generator = torch.Generator().manual_seed(5)
    start = target.initial((3, 24), torch.Generator().manual_seed(6))
    state = kernel.start(target, start.reshape(3, *batch, *target.space.event_shape), ONE, generator)
    seen = []
    for _ in range(6):
        state, info = kernel.step(target, state, ONE, generator)
        assert info.swap is not None
        assert info.acceptance.shape == info.jump.shape == batch
        seen += [kernel.draws(state).reshape(24, -1), info.acceptance.reshape(24)]
        seen += [info.swap.accepted.reshape(2, 24), info.swap.replica.reshape(3, 24)]
    return seen


@pytest.mark.parametrize("name", tempered())
def test_the_same_chains_walk_alike_in_every_arrangement_of_batch_axes(name: str) -> None:
    target, kernel = tempered()[name]
    one, *others = (walked(target, kernel, shape) for shape in SHAPES)
    for other in others:
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_one_seed_needs_no_axis() -> None:
    """The numbers, and so the states, are those of the batch with an axis of one seed."""
    target, kernel, one = Bernoulli4(), ParallelTempering(DMALA(0.4), LADDER), torch.ones(())
    ends = []
    for batch in ((1, 12), (12,), (3, 4), (2, 3, 2)):
        start, streams = Streams([7], "start"), Streams([7], "chain")
        state = kernel.start(target, target.initial((3, *batch), start), one, streams)
        for _ in range(5):
            state, _ = kernel.step(target, state, one, streams)
        ends.append(kernel.draws(state).reshape(12, 4))
    assert all(torch.equal(ends[0], other) for other in ends[1:])
    with pytest.raises(ValueError, match=r"streams of 2 seeds ends in the axes .*; \(3, 12\) was given"):
        target.initial((3, 12), Streams([7, 8], "start"))


def test_seeds_may_be_any_axis_before_the_chains() -> None:
    """With a stream for each seed the last two axes are seeds and chains, whatever comes before them."""
    target, kernel = Bernoulli4(), ParallelTempering(DMALA(0.4), LADDER)
    streams = Streams([3, 4], "chain")
    one = torch.ones(())
    state = kernel.start(target, target.initial((3, 5, 2, 6), streams), one, streams)
    state, info = kernel.step(target, state, one, streams)
    assert kernel.draws(state).shape == (5, 2, 6, 4)
    assert info.acceptance.shape == (5, 2, 6)


@pytest.mark.parametrize("name", ["dmala", "replica exchange"])
def test_states_without_the_axis_of_the_replicas_are_refused(name: str) -> None:
    target, kernel = tempered()[name]
    for shape in ((24,), (), (2, 3)):
        with pytest.raises(ValueError, match=r"needs states with its 3 replicas as the first axis, \(3, "):
            kernel.init(target, target.initial(shape, torch.Generator()), ONE)


@pytest.mark.parametrize("name", ["dmala", "gibbs", "cycle"])
def test_states_of_another_type_or_shape_are_refused(name: str) -> None:
    target, kernel = tempered()[name]
    states = target.initial((3, 5), torch.Generator())
    with pytest.raises(ValueError, match=r"states must be floating-point numbers .* torch.int64 of shape"):
        kernel.init(target, states.long(), ONE)
    with pytest.raises(ValueError, match=r"of shape \(\*batch, 4\), torch.float64 of shape \(3, 5, 3\)"):
        kernel.init(target, states[..., :3], ONE)


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        (DMALA, TypeError, "the class DMALA itself was given"),
        (configured(DMALA), TypeError, "a StepSizeTuning was given, which must be tuned first"),
        (
            ParallelTempering(DMALA(0.4), LADDER),
            ValueError,
            "not be tempered already, ParallelTempering",
        ),
        (ExactDraws(), ValueError, "serve inverse temperatures below 1, ExactDraws does not"),
        (UniformDraws(), ValueError, "serve inverse temperatures below 1, UniformDraws does not"),
    ],
)
def test_what_cannot_be_tempered_is_refused(given: Kernel, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^kernel must .*{sentence}"):
        ParallelTempering(given, LADDER)
    with pytest.raises(error, match=f"^kernel must .*{sentence}"):
        SimulatedTempering(given, ladder=LADDER, log_partition=[0.0, 0.0, 0.0])


def test_a_tuned_ladder_can_be_given_again() -> None:
    kernel = ParallelTempering(DMALA(0.4), LADDER)
    assert torch.equal(ParallelTempering(DMALA(0.4), kernel.betas).betas, kernel.betas)
