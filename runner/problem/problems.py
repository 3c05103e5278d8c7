"""The problems of one command: each is built once, tried once, and used by the run that computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from omegaconf import DictConfig

from runner.problem.build import Problem, build, built_target
from runner.problem.cached_reference_sample import check_reference_sample
from runner.problem.trials import check_kernel, check_metrics, check_target, check_traceable
from runner.store.short_hash import short_hash
from runner.store.written_config import plain_value
from targets.target import Target

TARGET_KEYS = ("target", "device", "dtype", "data", "output_root")
PROBLEM_KEYS = (
    *TARGET_KEYS,
    "sampler",
    "metric",
    "task",
    "tuning",
    "streams",
    "compile",
    "threads",
    "checkpoint",
)

Made = TypeVar("Made")


class Problems:
    """Builds and tries problems and remembers them, since the jobs of a sweep share targets and samplers."""

    def __init__(self) -> None:
        self._targets: dict[str, Target] = {}
        self._built: dict[str, Problem] = {}
        self._shared: dict[str, Any] = {}
        self._passed: set[str] = set()

    def of(self, config: DictConfig) -> Problem:
        """The problem of `config`, whatever its seeds.

        Raises:
            UserError: if it cannot be built.
        """
        key = short_hash(_content(config, PROBLEM_KEYS))
        if key not in self._built:
            self._built[key] = build(config, self.target(config))
        return replace(self._built[key], config=config)

    def check(self, config: DictConfig) -> None:
        """Builds the problem of `config` and tries its target, its kernel and its metrics on a few states.

        Raises:
            UserError: naming what is refused.
        """
        problem = self.of(config)
        on = {**_content(config, TARGET_KEYS), "start": problem.settings.start}
        parts = _content(config, ("sampler", "metric"))
        ladder = getattr(problem.kernel, "betas", None)
        betas = None if ladder is None else ladder.tolist()
        kernel = f"{type(problem.kernel).__name__}{problem.kernel.axes}{betas}{problem.tunable is None}"
        self._once(check_target, problem, on | {"gradient": problem.kernel.needs_gradient})
        self._once(check_reference_sample, problem, on)
        self._once(check_kernel, problem, on | {"sampler": parts["sampler"]})
        if config.compile is True:
            self._once(check_traceable, problem, _whatever_weights(on) | {"sampler": parts["sampler"]})
        measured = {"metric": parts["metric"], "kernel": kernel, "chains": problem.settings.chains}
        self._once(check_metrics, problem, on | measured)

    def target(self, config: DictConfig) -> Target:
        """The target of `config`, on its device and in its precision.

        Raises:
            UserError: if it cannot be built.
        """
        key = short_hash(_content(config, TARGET_KEYS))
        if key not in self._targets:
            self._targets[key] = built_target(config)
        return self._targets[key]

    def shared(self, make: Callable[[DictConfig], Made], config: DictConfig) -> Made:
        """``make(config)``, called once for all configurations that differ in their seeds alone."""
        key = f"{make.__qualname__} {short_hash(_content(config, (*PROBLEM_KEYS, 'model')))}"
        if key not in self._shared:
            self._shared[key] = make(config)
        made: Made = self._shared[key]
        return made

    def _once(self, check: Callable[[Problem], None], problem: Problem, what: dict[str, Any]) -> None:
        """Calls ``check(problem)`` unless the same check has passed for the same `what`."""
        key = f"{check.__name__} {short_hash(what)}"
        if key not in self._passed:
            check(problem)
            self._passed.add(key)


def _whatever_weights(on: Mapping[str, Any]) -> dict[str, Any]:
    """`on` without the seed of a learned target's weights, on which tracing does not depend."""
    target = on["target"]
    if not isinstance(target, Mapping):
        return dict(on)
    return {**on, "target": {key: value for key, value in target.items() if key != "model_seed"}}


def _content(config: DictConfig, keys: tuple[str, ...]) -> dict[str, Any]:
    """What `config` holds at `keys`, resolved."""
    return {key: plain_value(config, key) for key in keys}
