"""The problems of one command: each is built once, tried once, and used by the run that computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from omegaconf import DictConfig

from runner.problem.build import Problem, build, built_target
from runner.problem.cached_reference_sample import check_reference_sample
from runner.problem.problem_checks import check_kernel, check_metrics, check_target
from runner.store.digest import digest
from runner.store.run_files import resolved
from targets.target import Target

TARGET_KEYS = ("target", "device", "dtype", "data", "output_root")
PROBLEM_KEYS = (*TARGET_KEYS, "sampler", "metric", "task", "threads", "checkpoint")

Subject = TypeVar("Subject")


class Problems:
    """Builds and tries problems and remembers them, since the jobs of a sweep share targets and samplers."""

    def __init__(self) -> None:
        self._targets: dict[str, Target] = {}
        self._built: dict[str, Problem] = {}
        self._passed: set[str] = set()

    def of(self, config: DictConfig) -> Problem:
        """The problem of `config`, whatever its seeds.

        Raises:
            UserError: if it cannot be built.
        """
        key = digest(_content(config, PROBLEM_KEYS))
        if key not in self._built:
            on = digest(_content(config, TARGET_KEYS))
            if on not in self._targets:
                self._targets[on] = built_target(config)
            self._built[key] = build(config, self._targets[on])
        return replace(self._built[key], config=config)

    def check(self, config: DictConfig) -> None:
        """Builds the problem of `config` and tries its target, its kernel and its metrics on a few states.

        Raises:
            UserError: naming what is refused.
        """
        problem = self.of(config)
        on = {**_content(config, TARGET_KEYS), "start": problem.settings.start}
        parts = _content(config, ("sampler", "metric"))
        kernel = f"{type(problem.kernel).__name__}{problem.kernel.axes}{problem.tunable is None}"
        self.once(check_target, problem, on)
        self.once(check_reference_sample, problem, on)
        self.once(check_kernel, problem, on | {"sampler": parts["sampler"]})
        self.once(check_metrics, problem, on | {"metric": parts["metric"], "kernel": kernel})

    def once_for(self, check: Callable[[DictConfig], None], config: DictConfig) -> None:
        """Calls ``check(config)`` unless it has passed for the same configuration with other seeds."""
        self.once(check, config, _content(config, PROBLEM_KEYS))

    def once(self, check: Callable[[Subject], None], subject: Subject, what: dict[str, Any]) -> None:
        """Calls ``check(subject)`` unless the same check has passed for the same `what`."""
        key = f"{check.__name__} {digest(what)}"
        if key not in self._passed:
            check(subject)
            self._passed.add(key)


def _content(config: DictConfig, keys: tuple[str, ...]) -> dict[str, Any]:
    """What `config` holds at `keys`, resolved."""
    return {key: resolved(config, key) for key in keys}
