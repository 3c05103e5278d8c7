"""Ten seeds of a compiled run in one batch, beside one after the other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import torch

from metrics.library.thread_count import thread_count
from runner.execution.compiling.choice import has_compiler
from runner.tasks.sample import Sampling
from runner.tools.bench.steps.metric_updates import RUNS, begun
from runner.tools.bench.timing import BenchRows, seconds_in_turns

SEEDS = 10


def compiled_seed_rows(bench: BenchRows, rounds: int) -> None:
    """A row for each sampler, of steps with their standard metrics; none where there is no compiler."""
    if not has_compiler():
        return
    with thread_count(1), torch.no_grad():
        for name, lines in RUNS.items():
            calls = {seeds: _measured_step(begun(lines, range(seeds), compiled=True)) for seeds in (1, SEEDS)}
            seconds = seconds_in_turns(calls, rounds)
            about = f"compiled step of {name} with standard metrics, grid of 101 x 101, 100 chains, 1 thread"
            row = f"{about}: {SEEDS} seeds in one batch, against one by one"
            bench.ratio(row, seconds[SEEDS], SEEDS * seconds[1], most=0.7)


def _measured_step(run: Sampling) -> Callable[[], object]:
    """A step and an update of the metrics with its draws."""
    steps = count(1)

    def call() -> None:
        run.state, info = run.stepper(run.state)
        run.suite.update(next(steps), run.problem.kernel.draws(run.state), info)

    return call
