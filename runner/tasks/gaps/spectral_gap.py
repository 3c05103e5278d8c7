"""The task `spectral_gap`: how fast a kernel or a diffusion mixes, from its matrix and without runs."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, open_dict

from runner.config.construct import errors_at
from runner.config.key_group import node
from runner.config.values import threads
from runner.models.identity import target_identity
from runner.models.learned_values import check_training
from runner.store.run_files import Measurement, RunResult
from runner.store.run_folder import RunFolder
from runner.store.run_store import Store
from runner.tasks.gaps.methods import DIFFUSIONS, KERNEL, METHODS, THEORY, why_unread
from runner.tasks.task import Parts, PerSeedTask, span
from targets.checks import one_of, positive_number

if TYPE_CHECKING:
    from runner.problem.problems import Problems


class SpectralGap(PerSeedTask):
    """The gap that ``task.method`` asks for."""

    random = False

    def check_values(self, config: DictConfig) -> None:
        task = node(config, "task")
        _method(task)
        with errors_at("task", task):
            positive_number("memory", task["memory"])
        check_training(config)

    def check(self, config: DictConfig, problems: Problems) -> None:
        problems.shared(check_gap, config)

    def directions(self, config: DictConfig) -> Mapping[str, str]:
        return {"inverse_gap": "min"}

    def identity(self, config: DictConfig, parts: Parts) -> Parts:
        """Without metrics, since there are no draws; without the sampler where the gap is a diffusion's."""
        read = {"target": target_identity(parts["target"]), "task": parts["task"]}
        return {**read, "sampler": parts["sampler"]} if parts["task"].get("method") == KERNEL else read

    def why_unread(self, config: DictConfig, key: str) -> str | None:
        """Keys of the other methods, and the sampler where the gap is not a kernel's."""
        method = config.task.method
        if key.startswith("task."):
            return why_unread(node(config, "task"), key.split(".")[1])
        return None if method == KERNEL else f"task.method={method} has no sampler"

    def budget(self, configs: Sequence[DictConfig]) -> str:
        on_grid = [int(config.task.grid) for config in configs if config.task.method in DIFFUSIONS]
        grids = f", on grids of {span(on_grid)} points an axis" if on_grid else ""
        return f"one eigenvalue a run{grids}"

    def run(
        self, config: DictConfig, seed: int, store: Store, folder: RunFolder, problems: Problems
    ) -> RunResult:
        """The seed changes nothing but the tuning's file.

        Raises:
            UserError: for a setting that is refused, or a space or grid that does not fit.
        """
        from runner.problem.build import build_target, label
        from runner.problem.cached_reference_sample import with_trained_target
        from runner.problem.tuning_cache import tuned
        from runner.tasks.gaps.diffusion_gap import of_diffusion, of_theory
        from runner.tasks.gaps.kernel_gap import of_kernel

        task = node(config, "task")
        method = _method(task)
        exact, tuning = True, None
        notes: tuple[str, ...] = ()
        if method == KERNEL:
            problem, tuning = tuned(with_trained_target(problems.of(_sampling(config)), store), store)
        started = time.monotonic()
        with errors_at("task", task):
            if method == KERNEL:
                values, exact, notes = of_kernel(problem, task), problem.kernel.exact, problem.notes
            elif method in THEORY:
                values = of_theory(build_target(config), method, task)
            else:
                values = of_diffusion(build_target(config).double(), method, task)
        seconds = time.monotonic() - started
        return RunResult(
            target=label(config, "target"),
            sampler=label(config, "sampler") if method == KERNEL else method,
            seed=seed,
            records=[Measurement(0, 0, seconds, values)],
            wall_seconds=seconds,
            exact=exact,
            notes=notes,
            tuning=tuning,
        )


def check_gap(config: DictConfig) -> None:
    """Refuses what `SpectralGap.run` would refuse, before any matrix is built.

    Raises:
        UserError: naming what is refused.
    """
    from runner.problem.build import build, build_target
    from runner.tasks.gaps.diffusion_gap import check_diffusion, of_theory
    from runner.tasks.gaps.kernel_gap import check_kernel_gap

    task = node(config, "task")
    method = _method(task)
    threads(config)
    with errors_at("task", task):
        if method == KERNEL:
            problem = build(_sampling(config))
            problem.kernel.check(problem.target)
            check_kernel_gap(problem, task)
        elif method in THEORY:
            of_theory(build_target(config), method, task)
        else:
            check_diffusion(build_target(config).double(), method, task)


def _method(task: Mapping[str, Any]) -> str:
    with errors_at("task", task):
        return one_of("method", task.get("method"), METHODS)


def _sampling(config: DictConfig) -> DictConfig:
    """The configuration of a task that samples, in float64, whose target and kernel the task has."""
    made = copy.deepcopy(config)
    with open_dict(made):
        made.task = {"steps": 1, "chains": 1, "burn_in": 0, "start": "random", "record": 0}
        made.metric = {}
        made.dtype = "float64"
        made.device = "cpu"
    return made
