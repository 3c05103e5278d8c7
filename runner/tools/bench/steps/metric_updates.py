"""What the standard metrics of a run take at every step, beside the step itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

import torch

from metrics.library.thread_count import thread_count
from runner.execution.compiling.choice import has_compiler
from runner.problem.build import build
from runner.sweep.jobs import requested
from runner.tasks.sample import Sampling, begin
from runner.tools.bench.timing import BenchRows, seconds_in_turns

RUNS = {
    "dmala": ["sampler=dmala", "sampler.step_size=26"],
    "pt_dmala, 5 replicas": [
        "sampler=pt_dmala",
        "sampler.ladder=[1,0.5,0.25,0.12,0]",
        "sampler.step_size=[26,52,104,217,10000]",
    ],
}
"""Samplers that need no tuning."""


def metric_rows(bench: BenchRows, rounds: int) -> None:
    """A row for each sampler, of 100 chains on the grid target of Table 1 on one thread."""
    with thread_count(1), torch.no_grad():
        for name, lines in RUNS.items():
            seconds = seconds_in_turns(_calls(lines), rounds)
            about = f"standard metrics of a step of {name}, grid of 101 x 101, 100 chains, 1 thread"
            bench.ratio(f"{about}, against the step", seconds["metrics"], seconds["step"])
            if "compiled" in seconds:
                bench.ratio(f"{about}, against a compiled step", seconds["metrics"], seconds["compiled"])


def _calls(lines: list[str]) -> dict[str, Callable[[], object]]:
    """An update of the metrics with one step's draws, a plain step and, with a compiler, a compiled one."""
    run = begun(lines, [0], compiled=False)
    run.state, info = run.stepper(run.state)
    draws, steps = run.problem.kernel.draws(run.state), count(1)
    calls: dict[str, Callable[[], object]] = {
        "step": lambda: run.stepper(run.state),
        "metrics": lambda: run.suite.update(next(steps), draws, info),
    }
    if has_compiler():
        compiled = begun(lines, [0], compiled=True)
        calls["compiled"] = lambda: compiled.stepper(compiled.state)
    return calls


def begun(lines: Sequence[str], seeds: Sequence[int], *, compiled: bool) -> Sampling:
    """A run of 100 chains for each seed on the grid target, before its first step."""
    asked = ["target=mog", *lines, "task.chains=100", f"compile={str(compiled).lower()}"]
    return begin(build(requested(asked, multirun=False).configs[0]).prepared(), seeds)
