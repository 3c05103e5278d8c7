"""The runs of the task `sample`: batches of seeds with their checkpoints and results, a short trial."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from omegaconf import DictConfig

from metrics.mixing.swaps import rates_by_rung
from runner.execution.compiling.seed_batch import batch_pays, has_own_bits
from runner.execution.errors import warn
from runner.files.resumable import completed, save_plan
from runner.problem.build import Problem, build, label
from runner.problem.tuning_cache import tuned_for_trial
from runner.store.arrays.array_files import suite_files
from runner.store.run_files import Measurement, RunResult
from runner.tasks.runs import Batch, Trial
from runner.tasks.sample import Sampling, begin
from samplers.stepper import PLAIN_STEPS
from targets.randomness import Streams

MOST_BYTES = {"cpu": 2**19, "cuda": 2**22}
"""By device: states of one seed with matrix products that share a batch with others, replicas counted.

Larger ones gain nothing: an operation on one seed's is as long as many, and a batch of them leaves the cache
of a CPU.
"""

TRIAL_STEPS = 20
"""Steps before five times as many are timed."""

SLOW_STEPS = 2
"""Steps of one seed with which a trial begins, and as many that are timed; it ends there if they are slow."""

SLOW = 0.2
"""Seconds of a slow step."""


@dataclass(frozen=True)
class SampledRuns:
    """The runs of one sampler on one target, trained and tuned."""

    problem: Problem
    tuning: dict[str, Any] | None

    def together(self, seeds: Sequence[int]) -> bool:
        if not _may_share(self.problem, seeds):
            return False
        if not self.problem.compiled:
            return True
        try:
            return has_own_bits(partial(begin, self.problem), seeds)
        except Exception:  # which the run of a single seed meets and reports
            return False

    def compute(self, batch: Batch) -> Generator[RunResult, None, None]:
        problem = self.problem
        plan = save_plan(batch.checkpoint, problem.config.checkpoint, owner={"run_ids": batch.run_ids})
        with completed(lambda: begin(problem, batch.seeds), plan) as run:
            for place, seed in enumerate(batch.seeds):
                files = suite_files(run.suite, place, problem.image_shape)
                yield replace(run_result(run, seed), files=files, tuning=self.tuning)


def _may_share(problem: Problem, seeds: Sequence[int]) -> bool:
    """Whether seeds gain by a batch, in which plain steps of each have the bits that it has alone."""
    target = problem.target
    if problem.compiled:
        pays = batch_pays(problem.device, len(seeds), problem.settings.steps, _bytes(problem))
        return pays and target.batch_invariant
    return target.batch_invariant or (
        bool(target.by_seed) and _bytes(problem) <= MOST_BYTES[problem.device.type]
    )


def _bytes(problem: Problem) -> int:
    """What the states of one seed take."""
    numbers = math.prod((*problem.kernel.axes, problem.settings.chains, *problem.target.space.event_shape))
    return numbers * problem.target.like().element_size()


def run_result(run: Sampling, seed: int) -> RunResult:
    """The result of one seed of the batch; the batch's time is shared evenly among its runs.

    Warns where simulated tempering visited its levels more unevenly than STMH, Lemma 22 has it.
    """
    problem, place, runs = run.problem, list(run.seeds).index(seed), len(run.seeds)
    records = [
        Measurement(
            record["step"],
            record["evaluations"],
            record["seconds"] / runs,
            {metric: by_seed[place] for metric, by_seed in record["values"].items()},
        )
        for record in run.records
    ]
    last = records[-1]
    records[-1] = replace(last, values={**last.values, **problem.beside})
    if last.values.get("level_occupancy_uneven") == 1.0:
        warn(
            f"seed {seed}: a level has more than e^2 times an even share of the steps, or less than e^-2 of "
            "one; the partition functions are off, or the run is too short to walk the ladder."
        )
    return RunResult(
        target=problem.target_name or label(problem.config, "target"),
        sampler=label(problem.config, "sampler"),
        seed=seed,
        records=records,
        wall_seconds=run.wall_seconds / runs,
        batch=runs,
        exact=bool(problem.kernel.exact),
        axes=problem.kernel.axes,
        notes=problem.notes,
        model=problem.model,
        rungs=rates_by_rung(run.suite.context, place),
    )


def step_trial(config: DictConfig, seeds: Sequence[int], work: int) -> Trial:
    """What a run of so much `work`, steps times chains, will take; nothing is written.

    A learned target that is not trained yet stands in with the weights that its training starts from.
    """
    problem, seconds = build(_measuring_nothing(copy.deepcopy(config))), 0.0
    if problem.tunable is not None:
        problem, seconds = tuned_for_trial(problem)
    problem = problem.prepared()
    seeds = seeds if _may_share(problem, seeds) else seeds[:1]
    if "training" in config.target:
        draws = problem.target.initial((1, int(config.task.chains)), Streams([0], "trial"))
        problem.target.held_out = draws[0]

    # On a GPU the steps before have the recording of one in them, too.
    before = TRIAL_STEPS if problem.device.type == "cpu" else PLAIN_STEPS + TRIAL_STEPS
    steps = max(problem.settings.steps, before + 5 * TRIAL_STEPS) + 1
    problem = replace(problem, settings=replace(problem.settings, steps=steps, burn_in=0, record=0))
    run, began = begin(problem, seeds[:1]), time.monotonic()
    assert run.stepper is not None
    making = time.monotonic() - began
    slow = _seconds_of_steps(run, SLOW_STEPS, SLOW_STEPS)  # the first ones pay for imports
    each, chains = run.evaluations / run.step, problem.settings.chains
    if slow <= SLOW:
        run = begin(problem, seeds) if len(seeds) > 1 else run
        slow = _seconds_of_steps(run, before, 5 * TRIAL_STEPS) / len(seeds)
    return Trial(slow / chains * work + making, seconds, each * work)


def _seconds_of_steps(run: Sampling, before: int, steps: int) -> float:
    """The mean of so many steps, after all of the first `before`; of all seeds together."""
    times = []
    for until in (before, max(before, run.step) + steps):
        run.problem.config.checkpoint.steps = max(1, until - run.step)
        while run.step < until:
            run.walk()
        times.append((run.wall_seconds, run.step))
    (began, first), (ended, last) = times
    return (ended - began) / (last - first)


def _measuring_nothing(config: DictConfig) -> DictConfig:
    """`config` without metrics where its target is learned: those need the reference sample."""
    if "training" not in config.target:
        return config
    config.metric = {}
    config.task.update({"burn_in": 0, "start": "random", "record": 0, "steps": 100 * TRIAL_STEPS})
    return config
