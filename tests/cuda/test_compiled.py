"""Compiled steps on a CUDA device: those of the kernel up to rounding, replayed bit for bit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from metrics.enumeration.transition_matrix import transition_matrix
from samplers import Info, Kernel, State
from samplers.compiling.counter_streams import CounterStreams, NextNumbers
from samplers.compiling.noted_draws import GivenDraws, NotedDraws
from samplers.stepper import PLAIN_STEPS, Stepper
from samplers.tensor_tree import tensors
from targets import Streams, Target
from tests.cuda.kernels import CUDA, NETWORKS, one, placed
from tests.samplers.test_conformance import EVERY
from tests.support.checks import dkw_band, largest_gap

if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

STEPS = 10

SOME = (
    *("dmala-binary", "dmala-ordinal", "dmala-categorical", "dmala-rbm", "dula-binary", "gibbs-ordinal"),
    *("acs-binary", "gwg-binary", "pas-binary", "dlmc-binary", "rbm_gibbs-rbm", "edmala-binary", "mala"),
    *("wolff-ising", "swendsen_wang-potts", "pt_odd_even", "pt_prepared", "dlmc_prepared", "st_gibbs"),
)
"""Compiled too; each takes seconds of compiling."""


def begun(name: str, dtype: torch.dtype) -> tuple[Kernel, Target, State, CounterStreams]:
    kernel, target = placed(name, CUDA, dtype)
    streams = CounterStreams(range(2), "chain", CUDA)
    theta = target.initial((*kernel.axes, 2, 30), Streams(range(2), "start", CUDA))
    return kernel, target, kernel.start(target, theta, one(target), streams), streams


def of_next_step(kernel: Kernel, target: Target, state: State, streams: CounterStreams) -> GivenDraws:
    """The random numbers of the next compiled step, for the kernel's own."""
    noted = NotedDraws(streams)
    kernel.step(target, state, one(target), noted)
    return GivenDraws(NextNumbers(streams).numbers(noted.draws))


def assert_close(found: tuple[State, Info], expected: tuple[State, Info]) -> None:
    for mine, theirs in zip(tensors(found), tensors(expected), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [*EVERY, *NETWORKS])
def test_a_traced_step_is_the_kernels(name: str) -> None:
    kernel, target, state, streams = begun(name, torch.float64)
    traced = Stepper(kernel, target, one(target), streams).trace(state)
    for _ in range(3):
        given = of_next_step(kernel, target, state, streams)
        expected = kernel.step(target, state, one(target), given)
        found = traced(state)
        assert_close(found, expected)
        state = found[0]


@pytest.mark.parametrize("name", [*(name for name in EVERY if name in SOME), *NETWORKS])
def test_compiled_steps_are_the_kernels_and_replays_are_compiled_steps(name: str) -> None:
    kernel, target, state, streams = begun(name, torch.float64)
    stepper, again = (Stepper(kernel, target, one(target), each) for each in (streams, copied(streams)))
    stepper.compile(state)
    again.compile(state)
    here = state
    for place in range(PLAIN_STEPS + STEPS):
        given = of_next_step(kernel, target, state, streams)
        expected = kernel.step(target, state, one(target), given) if place % 5 == 0 else None
        found = stepper(state)
        if expected is not None:
            assert_close(found, expected)
        here, info = again._plain(here)
        for mine, theirs in zip(tensors(found), tensors((here, info)), strict=True):
            assert torch.equal(mine, theirs)
        state = found[0]
    assert stepper._recorded is not None, stepper.not_recorded
    assert int(streams.calls) == int(again._arguments[-1].calls) > 0  # type: ignore[union-attr]


def copied(streams: CounterStreams) -> CounterStreams:
    """Those that give the same numbers from here on."""
    made = CounterStreams(range(2), "chain", CUDA)
    made.load_state_dict(streams.state_dict())
    return made


@pytest.mark.parametrize("name", ["dmala-binary", "dmala-ordinal", "gibbs-ordinal", "gwg-ordinal"])
def test_compiled_steps_are_drawn_from_the_enumerated_rows(name: str) -> None:
    """Replayed; false alarm 1e-6 a test (DKW)."""
    kernel, target = placed(name, CUDA, torch.float64)
    states, draws = target.space.states().to(CUDA), 200_000
    counts = torch.zeros((len(states), len(states)), dtype=torch.float64)
    streams = CounterStreams([0], "chain", CUDA)
    for row, state in enumerate(started(kernel, target, states, draws)):
        if not row:
            stepper = Stepper(kernel, target, one(target), streams)
            stepper.compile(state)
            for _ in range(PLAIN_STEPS + 2):
                stepper(state)
            assert stepper._recorded is not None, stepper.not_recorded
        found, _ = stepper(state)
        counts[row] = torch.bincount(target.space.index(found.theta[0]), minlength=len(states)).cpu()
    own, on_cpu, _ = EVERY[name]
    matrix = transition_matrix(
        own, on_cpu, 1.0, own.init(on_cpu, on_cpu.space.states(), one(on_cpu)).aux or None
    )
    assert largest_gap(counts / draws, matrix) <= dkw_band(draws, len(states)) < 0.01


def started(kernel: Kernel, target: Target, states: Tensor, draws: int) -> Iterator[State]:
    """For each state one of `draws` chains that stand there."""
    for start in states:
        theta = start.expand(1, draws, *start.shape).contiguous()
        yield kernel.init(target, theta, one(target))
