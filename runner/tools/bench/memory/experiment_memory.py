"""Peak memory of a job of each experiment at ``scale=paper``, and what it grows by with four times the steps.

Chains, seeds, replicas and models have the papers' sizes. Steps and iterations are few, which is right as
long as nothing grows with them: that is the second thing measured here.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import conf
from runner.config.construct import locate
from runner.sweep.jobs import requested
from runner.tools.bench.child_cost import PER_MEGABYTE, spawned
from runner.tools.bench.timing import BenchRows

FEW = {
    "scale.steps": 50,
    "scale.iterations": 4,
    "scale.ground_truth_steps": 40,
    "scale.learning_iterations": 4,
    "scale.learning_steps": 2,
    "scale.temperatures": 20,
    "scale.draw_steps": 20,
    "task.steps": 50,
    "task.iterations": 4,
    "task.ais.temperatures": 20,
    "task.validation.temperatures": 20,
}
"""Keys that say how long a run is, with the shorter length; of `task` where an experiment names them."""

MOST_GROWTH = 40.0
"""Megabytes: processes of one size differ by 20, and the series of ten seeds' chains, which are full after
1,300 steps, take 8.
"""


def experiment_memory_rows(bench: BenchRows, experiments: Sequence[str] = ()) -> None:
    """Measures one job of each target and task of each experiment, by default all, in two processes.

    What does not run here, such as a job on a data set that is not there, is left out. What seems to grow is
    measured again, and the smaller values count: equal processes differ by 100 MB now and then.
    """
    names = experiments or sorted(path.stem for path in Path(conf.__path__[0]).glob("experiment/*.yaml"))
    for name in names:
        for of, lines in _widest(name).items():
            try:
                short, long = _pair(lines)
                if long - short > MOST_GROWTH:
                    short, long = map(min, (short, long), _pair(lines))
            except RuntimeError:
                bench.add(f"memory of {name}, {of}", "left out: it does not run here")
                continue
            growth = long - short
            value = f"{long:.0f} MB, {growth:+.0f} MB with 4 times the steps"
            wanted = f"<= {MOST_GROWTH:g} MB more"
            bench.add(f"memory of {name}, {of}", value, wanted, growth <= MOST_GROWTH)


def _pair(lines: Sequence[str]) -> tuple[float, float]:
    """Megabytes of the short run and of the long one."""
    return _megabytes(list(_lengthened(lines, 1))), _megabytes(list(_lengthened(lines, 4)))


def _widest(experiment: str) -> dict[str, list[str]]:
    """By target and task, the overrides of a job of an experiment: one with replicas where there is one."""
    request = requested([f"+experiment={experiment}", "scale=paper"], multirun=True)
    tempered: dict[str, bool] = {}
    found: dict[str, list[str]] = {}
    for plan, config in zip(request.plans, request.configs, strict=True):
        task = config.task._target_.rsplit(".", 1)[-1]
        of, replicas = f"{config.target.name}, {task}", "kernel" in config.sampler
        if of not in found or (replicas and not tempered[of]):
            seeds = plan.seeds or config.scale.seeds
            target = locate(config.target._target_, "target")
            # All others compute a seed at a time, or share a batch only where their states are small.
            invariant = getattr(target, "batch_invariant", True)
            together = invariant and task == "Sample" and not plan.one_job_per_seed
            tempered[of] = replicas
            found[of] = [*plan.overrides, f"seed={list(range(seeds)) if together else 0}".replace(" ", "")]
    return found


def _lengthened(lines: Sequence[str], times: int) -> Iterator[str]:
    """The overrides of a job, `times` as long as the shorter run."""
    for line in lines:
        key = line.partition("=")[0]
        if key == "task.burn_in":
            yield "task.burn_in=0"
        else:
            yield f"{key}={FEW[key] * times}" if key in FEW else line
    yield from (f"{key}={few * times}" for key, few in FEW.items() if key.startswith("scale."))
    yield "scale.tuning=0.01"


def _megabytes(lines: Sequence[str]) -> float:
    """Peak resident memory of a run from the shell, models and reference samples included.

    Raises:
        RuntimeError: if the run fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        return spawned(os.devnull, "runner", *lines, f"output_root={folder}").ru_maxrss / PER_MEGABYTE
