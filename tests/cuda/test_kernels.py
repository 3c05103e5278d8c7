"""Every kernel on a GPU: the steps of the CPU, no wait for the host, seeds that do not disturb each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from metrics.enumeration.transition_matrix import transition_matrix
from samplers import State
from targets import Streams
from tests.cuda.host_numbers import host_numbers
from tests.cuda.kernels import CUDA, one, placed
from tests.samplers.test_conformance import EVERY
from tests.support.checks import dkw_band, largest_gap
from tests.support.steps.stepping import walked
from tests.support.targets.small_targets import Quadratic

if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

STEPS = 6


def walk(name: str, device: torch.device | str, batch: tuple[int, int], dtype: torch.dtype) -> State:
    """Where `STEPS` steps of the seeds 0, 1, ... lead."""
    kernel, target = placed(name, device, dtype)
    seeds = range(batch[0])
    theta = target.initial((*kernel.axes, *batch), Streams(seeds, "start", device))
    state = kernel.init(target, theta, one(target))
    return walked(kernel, target, state, STEPS, Streams(seeds, "chain", device), one(target))[0]


@contextmanager
def forbidden_waits() -> Iterator[None]:
    """Raises where the host waits for the device inside the block."""
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("name", EVERY)
def test_the_same_numbers_lead_to_the_same_states_as_on_the_cpu(name: str) -> None:
    with host_numbers():
        here = walk(name, "cpu", (2, 40), torch.float64)
        there = walk(name, CUDA, (2, 40), torch.float64)
    torch.testing.assert_close(there.theta.cpu(), here.theta, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(there.log_prob.cpu(), here.log_prob, rtol=1e-9, atol=1e-9)
    assert there.aux.keys() == here.aux.keys()
    for key, value in here.aux.items():
        torch.testing.assert_close(there.aux[key].cpu(), value, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", EVERY)
def test_no_step_waits_for_the_device(name: str, dtype: torch.dtype) -> None:
    kernel, target = placed(name, CUDA, dtype)
    theta = target.initial((*kernel.axes, 2, 20), Streams([0, 1], "start", CUDA))
    state = kernel.init(target, theta, one(target))
    streams, beta = Streams([0, 1], "chain", CUDA), one(target)
    state, _ = walked(kernel, target, state, 1, streams, beta)
    with forbidden_waits():
        state, info = walked(kernel, target, state, 3, streams, beta)
    assert state.theta.device.type == info.acceptance.device.type == "cuda"
    assert state.theta.dtype == dtype


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", [name for name in EVERY if EVERY[name][1].batch_invariant])
def test_a_seed_draws_the_same_bits_alone_and_beside_others(name: str, dtype: torch.dtype) -> None:
    alone, together = walk(name, CUDA, (1, 13), dtype), walk(name, CUDA, (5, 13), dtype)
    kernel = EVERY[name][0]
    first = (slice(None),) * len(kernel.axes) + (slice(0, 1),)
    assert torch.equal(alone.theta, together.theta[first])
    if isinstance(EVERY[name][1], Quadratic):  # its product rounds by the number of rows
        torch.testing.assert_close(alone.log_prob, together.log_prob[first])
    else:
        assert torch.equal(alone.log_prob, together.log_prob[first])


@pytest.mark.parametrize(
    "name", ["dmala-binary", "dmala-ordinal", "dmala-categorical", "gibbs-ordinal", "acs-binary"]
)
def test_steps_are_drawn_from_the_enumerated_rows(name: str) -> None:
    """With the numbers of the device's own generator; false alarm 1e-6 a test (DKW)."""
    kernel, target = placed(name, CUDA, torch.float64)
    states, draws = target.space.states().to(CUDA), 200_000
    counts = torch.zeros((len(states), len(states)), dtype=torch.float64)
    generator = torch.Generator(CUDA).manual_seed(0)
    for row, start in enumerate(states):
        theta = start.expand(draws, *start.shape).contiguous()
        state = kernel.init(target, theta, one(target))
        state, _ = kernel.step(target, state, one(target), generator)
        counts[row] = torch.bincount(target.space.index(state.theta), minlength=len(states)).cpu()
    own, on_cpu, _ = EVERY[name]
    matrix = transition_matrix(
        own, on_cpu, 1.0, own.init(on_cpu, on_cpu.space.states(), one(on_cpu)).aux or None
    )
    assert largest_gap(counts / draws, matrix) <= dkw_band(draws, len(states)) < 0.01
