"""The task `sample` as the runner sees it: batches of seeds, checkpoints, and how long a run will take."""

from __future__ import annotations

import copy
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from omegaconf import DictConfig

from runner.execution import signals
from runner.execution.checkpoint import save
from runner.execution.progress import current
from runner.problem.build import Problem, build, label
from runner.problem.cached_reference_sample import with_model
from runner.problem.problems import Problems
from runner.problem.tuning_cache import tune, tuned
from runner.store.run_files import Measured
from runner.store.run_store import Store
from runner.store.visit_files import files_of
from runner.tasks.phrases import alternatives, span
from runner.tasks.sample import Sampling, begin, measured, sample
from runner.tasks.task import Batch, Runs, SeedError, Task
from targets.randomness import Streams

TRIAL_STEPS = 20
"""Steps that are timed in a trial."""


class NotANumberError(SeedError):
    """Chains of some seeds met a log density that is NaN or infinite."""


class Sample(Task):
    """Runs a sampler on a target and measures its draws; seeds share a batch where the target allows it."""

    uses_target = True

    def check(self, config: DictConfig, problems: Problems) -> None:
        problems.check(config)

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
        problem, tuning = tuned(with_model(problems.of(config), store), store)
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

    def compute(self, batch: Batch) -> Generator[Measured, None, None]:
        problem, config = self.problem, self.problem.config
        run = begin(problem, batch.seeds)
        batch.restore(run)
        progress = current()
        title = f"{label(config, 'target')} / {label(config, 'sampler')}, {len(batch.seeds)} seeds"
        progress.begin(title, problem.settings.steps, run.step)
        try:
            with signals.deferred():
                sample(problem, run, _Watch(config, batch))
                for place, seed in enumerate(batch.seeds):
                    yield replace(measured(problem, run, seed), files=files_of(run.suite, place))
        finally:
            progress.end()


class _Watch:
    """Looks at a batch of runs between blocks of steps: NaN, progress, checkpoint, signals."""

    def __init__(self, config: DictConfig, batch: Batch) -> None:
        self.target, self.batch = str(config.target._target_), batch
        self.every_seconds, self.every_steps = config.checkpoint.seconds, config.checkpoint.steps
        self.saved_at, self.saved_step = time.monotonic(), 0

    def __call__(self, run: Sampling) -> None:
        bad = run.not_a_number()
        if bad:
            raise NotANumberError(
                f"The target {self.target} gave NaN or infinity as a log density by step {run.step} "
                f"(seed {', '.join(map(str, bad))}).",
                bad,
            )
        current().at(run.step)
        elapsed = time.monotonic() - self.saved_at
        due = elapsed >= self.every_seconds
        due |= self.every_steps is not None and run.step - self.saved_step >= self.every_steps
        if due or signals.wanted():
            save(self.batch.checkpoint, {"run_ids": self.batch.run_ids, **run.state_dict()})
            self.saved_at, self.saved_step = time.monotonic(), run.step
        signals.obey()


def step_seconds(config: DictConfig, seeds: Sequence[int]) -> tuple[float, float]:
    """Seconds of one step of one chain of one seed, and of the tuning; nothing is written.

    A learned target that is not trained yet stands in with the weights that its training starts from.
    """
    problem, seconds = build(_measuring_nothing(config)), 0.0
    if problem.kernel.untuned:
        found, seconds = tune(problem)
        problem = problem.with_kernel(problem.kernel.tuned(found))
    problem = problem.prepared()
    if "training" in config.target:
        draws = problem.target.initial((1, int(config.task.chains)), Streams([0], "trial"))
        problem.target.held_out = draws[0]

    def wall(steps: int) -> float:
        settings = replace(problem.settings, steps=steps, burn_in=0, record=0)
        run = begin(replace(problem, settings=settings), seeds)
        sample(replace(problem, settings=settings), run, lambda _: None)
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
