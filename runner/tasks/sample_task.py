"""The task `sample` as the runner sees it: batches of seeds, checkpoints, and how long a run will take."""

from __future__ import annotations

import copy
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from omegaconf import DictConfig

from runner.files.resumable import completed, save_plan
from runner.problem.build import Problem, build
from runner.problem.cached_reference_sample import with_trained_target
from runner.problem.problems import Problems
from runner.problem.tuning_cache import tune, tuned
from runner.store.array_files import suite_files
from runner.store.run_files import RunResult
from runner.store.run_store import Store
from runner.tasks.sample import begin, run_result
from runner.tasks.task import Batch, Parts, Runs, Task, alternatives, span
from targets.randomness import Streams

TRIAL_STEPS = 20
"""Steps that are timed in a trial."""


class Sample(Task):
    """Runs a sampler on a target and measures its draws; seeds share a batch where the target allows it."""

    uses_target = True
    own_streams = True

    def check(self, config: DictConfig, problems: Problems) -> None:
        problems.check(config)

    def identity(self, config: DictConfig, parts: Parts) -> Parts:
        """Without ``keep`` where it is 0, as in runs of versions that had no such key."""
        kept = {key: value for key, value in parts["task"].items() if (key, value) != ("keep", 0)}
        return super().identity(config, {**parts, "task": kept})

    def work(self, config: DictConfig) -> int:
        """Steps times chains."""
        return int(config.task.steps) * int(config.task.chains)

    def trial(self, config: DictConfig, seeds: Sequence[int]) -> tuple[float, float]:
        rate, tuning = step_seconds(config, seeds)
        return rate * self.work(config), tuning

    def budget(self, configs: Sequence[DictConfig]) -> str:
        tasks = [config.task for config in configs]
        return (
            f"{span(task.chains for task in tasks)} chains, "
            f"{span(task.steps for task in tasks)} steps of which "
            f"{span(int(task.burn_in) for task in tasks)} are burn-in, start: "
            f"{alternatives(task.start for task in tasks)}"
        )

    def start(self, config: DictConfig, store: Store, problems: Problems) -> Runs:
        problem, tuning = tuned(with_trained_target(problems.of(config), store), store)
        return SampledRuns(problem.prepared(), tuning)


@dataclass(frozen=True)
class SampledRuns:
    """The runs of one sampler on one target, trained and tuned."""

    problem: Problem
    tuning: dict[str, Any] | None

    @property
    def together(self) -> bool:
        """Whether a seed's numbers are the same bits whatever else is in the batch."""
        return self.problem.target.batch_invariant

    def compute(self, batch: Batch) -> Generator[RunResult, None, None]:
        problem = self.problem
        plan = save_plan(batch.checkpoint, problem.config.checkpoint, owner={"run_ids": batch.run_ids})
        with completed(lambda: begin(problem, batch.seeds), plan) as run:
            for place, seed in enumerate(batch.seeds):
                yield replace(run_result(run, seed), files=suite_files(run.suite, place))


def step_seconds(config: DictConfig, seeds: Sequence[int]) -> tuple[float, float]:
    """Seconds of one step of one chain of one seed, and of the tuning; nothing is written.

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

    def wall(steps: int) -> float:
        settings = replace(problem.settings, steps=steps, burn_in=0, record=0)
        run = begin(replace(problem, settings=settings), seeds)
        while not run.done:
            run.walk()
        return run.wall_seconds

    wall(TRIAL_STEPS)  # the first stretch pays for imports
    # What a run pays once, such as its last metrics, is in both and drops out.
    longer = max(0.0, wall(6 * TRIAL_STEPS) - wall(TRIAL_STEPS))
    return longer / (5 * TRIAL_STEPS * problem.settings.chains * len(seeds)), seconds


def _measuring_nothing(config: DictConfig) -> DictConfig:
    """`config` without metrics where its target is learned: those need the reference sample."""
    if "training" not in config.target:
        return config
    tried = copy.deepcopy(config)
    tried.metric = {}
    tried.task.update({"burn_in": 0, "start": "random", "record": 0, "steps": 100 * TRIAL_STEPS})
    return tried
