"""The problems of one command: each is built once, tried once, and used by the run that computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from omegaconf import DictConfig

from runner.execution.errors import UnservedError, UserError, one_sentence, warn
from runner.problem.build import Problem, beta, build, built_target
from runner.problem.cached_reference_sample import check_reference_sample
from runner.store.digest import digest
from runner.store.run_files import resolved
from samplers.compiling.counter_streams import CounterStreams
from samplers.compiling.not_compiled import NotCompiledError
from samplers.stepper import Stepper
from samplers.trial import try_step
from targets.target import Target
from targets.trial import try_probabilities, try_target

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
        key = digest(_content(config, PROBLEM_KEYS))
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
        kernel = f"{type(problem.kernel).__name__}{problem.kernel.axes}{problem.tunable is None}"
        self._once(check_target, problem, on)
        self._once(check_reference_sample, problem, on)
        self._once(check_kernel, problem, on | {"sampler": parts["sampler"]})
        if config.compile is True:
            self._once(check_traceable, problem, on | {"sampler": parts["sampler"]})
        self._once(check_metrics, problem, on | {"metric": parts["metric"], "kernel": kernel})

    def target(self, config: DictConfig) -> Target:
        """The target of `config`, on its device and in its precision.

        Raises:
            UserError: if it cannot be built.
        """
        key = digest(_content(config, TARGET_KEYS))
        if key not in self._targets:
            self._targets[key] = built_target(config)
        return self._targets[key]

    def shared(self, make: Callable[[DictConfig], Made], config: DictConfig) -> Made:
        """``make(config)``, called once for all configurations that differ in their seeds alone."""
        key = f"{make.__qualname__} {digest(_content(config, (*PROBLEM_KEYS, 'model')))}"
        if key not in self._shared:
            self._shared[key] = make(config)
        made: Made = self._shared[key]
        return made

    def _once(self, check: Callable[[Problem], None], problem: Problem, what: dict[str, Any]) -> None:
        """Calls ``check(problem)`` unless the same check has passed for the same `what`."""
        key = f"{check.__name__} {digest(what)}"
        if key not in self._passed:
            check(problem)
            self._passed.add(key)


def _content(config: DictConfig, keys: tuple[str, ...]) -> dict[str, Any]:
    """What `config` holds at `keys`, resolved."""
    return {key: resolved(config, key) for key in keys}


def check_kernel(problem: Problem) -> None:
    """Tries the kernel's `init` and `step` on two initial states, unless it is still to be tuned.

    Raises:
        UserError: if it refuses the target.
    """
    try:
        (problem.tunable or problem.kernel).check(problem.target)
    except ValueError as error:
        raise UnservedError(f"sampler: {one_sentence(error)}.") from error
    if problem.tunable is not None:
        return
    small = replace(problem, settings=replace(problem.settings, chains=2))
    try:
        start = small.start(problem.kernel.axes, [0])
        if _lacks_reference_sample(problem.target):
            problem.kernel.init(problem.target, start, beta(problem))
        else:
            try_step(problem.kernel, problem.target, start, beta(problem))
    except ValueError as error:
        raise UnservedError(f"sampler: {one_sentence(error)}.") from error


def check_traceable(problem: Problem) -> None:
    """Traces a step of two chains, unless the kernel is still to be tuned.

    Raises:
        UserError: if it cannot be compiled.
    """
    if problem.tunable is not None:
        return
    small = replace(problem, settings=replace(problem.settings, chains=2)).prepared()
    streams = CounterStreams([0], "trial", problem.device)
    start = small.start(small.kernel.axes, [0])
    state = small.kernel.start(small.target, start, beta(problem), streams)
    try:
        Stepper(small.kernel, small.target, beta(problem), streams).trace(state)
    except NotCompiledError as error:
        raise UnservedError(f"compile=true: {error}; compile=auto goes on without.") from error
    except Exception as error:
        if _lacks_reference_sample(problem.target):
            return  # The step may need it; it is compiled after the training.
        if isinstance(error, ValueError):
            raise UnservedError(f"sampler: {one_sentence(error)}.") from error
        raise


def _lacks_reference_sample(target: Target) -> bool:
    """Whether the reference sample, from which a step may draw, is still to be made with the model."""
    held_out = getattr(target, "held_out", None)
    return held_out is not None and not len(held_out)


def check_metrics(problem: Problem) -> None:
    """Builds the metrics for two chains; a warning names those left out for want of draws from the target.

    Raises:
        UserError: if one cannot be built, or the target or the kernel cannot serve it.
    """
    suite = problem.suite([0], chains=2)
    if suite.undrawn:
        names, kernel = ", ".join(suite.undrawn), type(problem.kernel).__name__
        warn(f"left out: the metrics {names} (the states of {kernel} are no draws from the target).")


def check_target(problem: Problem) -> None:
    """Refuses a target whose initial states, or log density at two of them, are not what they must be.

    Raises:
        UserError: naming the target, what it gave and what was expected.
    """
    name, target = problem.config.target._target_, problem.target
    small = replace(problem, settings=replace(problem.settings, chains=2))
    try:
        theta = small.start((), [0])
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"The target {name} cannot be evaluated: {type(error).__name__}: {one_sentence(error)}"
        ) from error
    if theta.shape != (1, 2, *target.space.event_shape):
        raise UserError(
            f"The target {name} gave initial states of shape {tuple(theta.shape)}, "
            f"{(1, 2, *target.space.event_shape)} was expected."
        )
    try:
        try_target(str(name), target, theta, gradient=False)
        try_probabilities(str(name), target)
    except ValueError as error:
        raise UserError(str(error)) from error
    if problem.kernel.needs_gradient:
        try:
            try_target(str(name), target, theta, gradient=True)
        except ValueError as error:
            raise UnservedError(str(error)) from error
