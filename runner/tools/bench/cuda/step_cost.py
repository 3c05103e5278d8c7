"""What a step costs on a CUDA device: plain, replayed as a CUDA graph, and compiled and replayed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.profiler import ProfilerActivity, profile

from runner.execution.stopwatch import Stopwatch
from runner.tools.bench.timing import stepping
from samplers.kernel import Kernel
from samplers.seed_blocks import in_seed_blocks
from samplers.stepper import PLAIN_STEPS
from targets import Streams, Target

REPEATS, WATCHED = 5, 10
"""The fastest of so many stretches counts; steps that the profiler watches."""

Call = Callable[[], object]


@dataclass(frozen=True)
class StepCost:
    """Of one kind of step.

    Attributes:
        seconds: of a step, one after the other, by events on the stream.
        started: operations that a step starts on the device, or that a replay of it executes.
        busy: seconds in which the device executes them.
    """

    seconds: float
    started: float
    busy: float


def plain_cost(target: Target, kernel: Kernel, chains: int, steps: int, seeds: int = 1) -> StepCost:
    """Of steps that are started operation by operation."""
    target = in_seed_blocks(target.to("cuda"), seeds)
    one = target.like().new_ones(())
    kernel = kernel.to(one).prepared(target, one)
    streams = Streams(range(seeds), "bench", one.device)
    state = kernel.init(target, target.initial((*kernel.axes, seeds, chains), streams), one)

    def step() -> None:
        nonlocal state
        state, _ = kernel.step(target, state, one, streams)

    return _cost(step, steps)


def replayed_cost(
    target: Target, kernel: Kernel, chains: int, steps: int, seeds: int = 1, *, compiled: bool = False
) -> StepCost:
    """Of steps that are replayed as a CUDA graph, `compiled` ones or plain ones."""
    step = stepping(kernel, target.to("cuda"), chains, seeds=seeds, compiled=compiled)
    for _ in range(PLAIN_STEPS + 5):
        step()
    return _cost(step, steps)


def seconds_each(call: Call, times: int) -> float:
    """Of one call among `times` in a row: the fastest of `REPEATS` stretches, by events on the stream."""
    found = []
    for _ in range(REPEATS):
        watch = Stopwatch(torch.device("cuda"))
        watch.start()
        for _ in range(times):
            call()
        watch.stop()
        found.append(watch.lap() / times)
    return min(found)


@torch.no_grad()
def _cost(step: Call, steps: int) -> StepCost:
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as watched:
        for _ in range(WATCHED):
            step()
        torch.cuda.synchronize()
    events = [each for each in watched.events() if each.device_type.name == "CUDA"]
    busy = sum(each.time_range.elapsed_us() for each in events) * 1e-6
    return StepCost(seconds_each(step, steps), len(events) / WATCHED, busy / WATCHED)
