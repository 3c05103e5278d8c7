"""The runs of the task `sample`: batches of seeds with their checkpoints, and a short trial of them."""

from __future__ import annotations

import copy
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from omegaconf import DictConfig

from runner.files.resumable import completed, save_plan
from runner.problem.build import Problem, build
from runner.problem.tuning_cache import tune
from runner.store.arrays.array_files import suite_files
from runner.store.run_files import RunResult
from runner.tasks.sample import begin, run_result
from runner.tasks.task import Batch, Trial
from targets.randomness import Streams

TRIAL_STEPS = 20
"""Steps that are timed in a trial."""


@dataclass(frozen=True)
class SampledRuns:
    """The runs of one sampler on one target, trained and tuned."""

    problem: Problem
    tuning: dict[str, Any] | None

    @property
    def together(self) -> bool:
        """Whether a seed's numbers are the same bits whatever else is in the batch."""
        return self.problem.target.batch_invariant and not self.problem.compiled

    def compute(self, batch: Batch) -> Generator[RunResult, None, None]:
        problem = self.problem
        plan = save_plan(batch.checkpoint, problem.config.checkpoint, owner={"run_ids": batch.run_ids})
        with completed(lambda: begin(problem, batch.seeds), plan) as run:
            for place, seed in enumerate(batch.seeds):
                yield replace(run_result(run, seed), files=suite_files(run.suite, place))


def step_trial(config: DictConfig, seeds: Sequence[int], work: int) -> Trial:
    """What a run of so much `work`, steps times chains, will take; nothing is written.

    A learned target that is not trained yet stands in with the weights that its training starts from.
    """
    problem, seconds = build(_measuring_nothing(config)), 0.0
    if problem.tunable is not None:
        found, seconds = tune(problem)
        problem = problem.with_kernel(problem.tunable.kernel_at(found.hyperparameters))
    problem = problem.prepared()
    if "training" in config.target:
        draws = problem.target.initial((1, int(config.task.chains)), Streams([0], "trial"))
        problem.target.held_out = draws[0]

    def wall(steps: int) -> tuple[float, int]:
        settings = replace(problem.settings, steps=steps, burn_in=0, record=0)
        run = begin(replace(problem, settings=settings), seeds)
        while not run.done:
            run.walk()
        return run.wall_seconds, run.evaluations

    _, evaluations = wall(TRIAL_STEPS)  # the first stretch pays for imports
    # What a run pays once, such as its last metrics, is in both and drops out.
    longer = max(0.0, wall(6 * TRIAL_STEPS)[0] - wall(TRIAL_STEPS)[0])
    rate = longer / (5 * TRIAL_STEPS * problem.settings.chains * len(seeds))
    return Trial(rate * work, seconds, evaluations / TRIAL_STEPS * work)


def _measuring_nothing(config: DictConfig) -> DictConfig:
    """`config` without metrics where its target is learned: those need the reference sample."""
    if "training" not in config.target:
        return config
    tried = copy.deepcopy(config)
    tried.metric = {}
    tried.task.update({"burn_in": 0, "start": "random", "record": 0, "steps": 100 * TRIAL_STEPS})
    return tried
