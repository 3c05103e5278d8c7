"""Steps replayed as a CUDA graph: bit for bit those of the kernel, whatever calls them."""

from __future__ import annotations

import gc
import io
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from samplers import DMALA, Info, State
from samplers.stepper import PLAIN_STEPS, Stepper
from samplers.tensor_tree import tensors
from targets import Streams, Target
from targets.randomness import Generator
from tests.cuda.kernels import CUDA, one, placed
from tests.samplers.test_conformance import EVERY
from tests.support.steps.stepping import equal

if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

STEPS = PLAIN_STEPS + 10


def begun(name: str, dtype: torch.dtype) -> tuple[Stepper, State, Streams]:
    kernel, target = placed(name, CUDA, dtype)
    theta = target.initial((*kernel.axes, 3, 30), Streams(range(3), "start", CUDA))
    streams = Streams(range(3), "chain", CUDA)
    state = kernel.start(target, theta, one(target), streams)
    return Stepper(kernel, target, one(target), streams), state, streams


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", EVERY)
def test_replayed_steps_are_those_of_the_kernel(name: str, dtype: torch.dtype) -> None:
    stepper, state, streams = begun(name, dtype)
    plain, here, own = begun(name, dtype)
    found: list[tuple[State, Info]] = []
    for _ in range(STEPS):
        state, info = stepper(state)
        found.append((state, info))
    assert stepper._recorded is not None, stepper.not_recorded
    torch.save(list(tensors(found[-1])), io.BytesIO())  # as in a checkpoint
    for each in found:
        here, info = plain._plain(here)
        assert equal(each, (here, info))
    for mine, theirs in zip(streams.generators, own.generators, strict=True):
        assert torch.equal(mine.get_state(), theirs.get_state())


def test_any_state_may_follow_and_a_loaded_generator_goes_on() -> None:
    stepper, state, streams = begun("pt_odd_even", torch.float64)
    for _ in range(STEPS):
        state, _ = stepper(state)
    saved, then = streams.state_dict(), replace(state, theta=state.theta.clone())
    first = [stepper(state)]
    first.append(stepper(first[0][0]))
    streams.load_state_dict(saved)
    again = [stepper(then)]
    again.append(stepper(again[0][0]))
    assert equal(tuple(first), tuple(again))


def test_an_older_graph_that_is_garbage_does_not_spoil_a_recording() -> None:
    """CUDA refuses to free it while the next one is recorded, and the collector may run at any time."""
    before = gc.get_threshold()
    older, state, _ = begun("dmala-binary", torch.float64)
    for _ in range(STEPS):
        state, _ = older(state)
    assert older._recorded is not None, older.not_recorded
    older.itself = older  # type: ignore[attr-defined]
    del older
    stepper, state, _ = begun("dmala-binary", torch.float64)
    gc.set_threshold(1)
    try:
        for _ in range(STEPS):
            state, _ = stepper(state)
    finally:
        gc.set_threshold(*before)
    assert stepper._recorded is not None, stepper.not_recorded


class Waiting(DMALA):
    """Asks for a value on the host in every step."""

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        after, info = super().step(target, state, beta, generator)
        assert float(info.acceptance.mean()) <= 1.0
        return after, info


def test_a_kernel_that_waits_for_values_is_stepped_plainly() -> None:
    _, target = placed("dmala-binary", CUDA, torch.float64)
    kernels = [Waiting(1.0).to(target.like()), DMALA(1.0).to(target.like())]
    ends = []
    for kernel in kernels:
        streams = Streams([0], "chain", CUDA)
        stepper = Stepper(kernel, target, one(target), streams)
        state = kernel.init(target, target.initial((1, 30), Streams([0], "start", CUDA)), one(target))
        for _ in range(STEPS):
            state, _ = stepper(state)
        ends.append((stepper._recorded is None, state))
    assert [plainly for plainly, _ in ends] == [True, False]
    assert equal(ends[0][1], ends[1][1])
