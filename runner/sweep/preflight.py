"""Finds what is wrong before any work: every distinct target, sampler and metric of a sweep is tried."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from runner.config.compose import sentence
from runner.config.digest import digest
from runner.execution.devices import device_type
from runner.execution.errors import UserError, listed
from runner.models.identity import identifying
from runner.problem.build import build
from runner.problem.cached_reference_sample import check_truth
from runner.store.logger import mirror
from runner.store.run_store import Store
from runner.sweep.jobs import Job
from runner.sweep.problem_checks import check_kernel, check_learning, check_metrics, check_target
from runner.tasks import per_seed
from runner.tasks.evaluate import check_evaluation
from runner.tasks.gaps.spectral_gap import check_gap
from runner.tasks.images.image_settings import sampling


def preflight(jobs: Sequence[Job]) -> None:
    """Refuses jobs that cannot begin.

    Raises:
        UserError: the first thing that is wrong; with several jobs it says in which.
    """
    trials = _Trials()
    for job in jobs:
        try:
            trials.check(job.config)
        except (UserError, OmegaConfBaseException) as error:
            said = str(error) if isinstance(error, UserError) else sentence(error)
            if len(jobs) > 1:
                where = " ".join(line for line in job.overrides if not line.startswith("seed="))
                said = f"{said.rstrip('.')} (job: {where})."
            raise UserError(said) from error


class _Trials:
    """What was tried already, so that a sweep tries nothing twice."""

    def __init__(self) -> None:
        self.passed: set[str] = set()

    def check(self, config: DictConfig) -> None:
        _check_checkpoint(config)
        mirror(config)
        Store(config.output_root).require_writable()
        _check_task(config)
        if config.task.name == "evaluate":
            check_evaluation(config)
            return
        if config.task.name == "learn":
            self._once(check_learning, config, identifying(config, device_type(config.device)))
            return
        if config.task.name == "spectral_gap":
            self._once(check_gap, config, identifying(config, device_type(config.device)))
            return
        if config.task.name in per_seed.ON_IMAGES:
            per_seed.ON_IMAGES[config.task.name](config)
            config = sampling(config)
        problem = build(config)
        parts = identifying(config, problem.device.type)
        kernel = f"{type(problem.kernel).__name__}{problem.kernel.axes}{problem.tunable is None}"
        on = {key: parts[key] for key in ("target", "device", "dtype")} | {"start": problem.settings.start}
        self._once(check_target, problem, on)
        self._once(check_truth, problem, on)
        self._once(check_kernel, problem, on | {"sampler": parts["sampler"]})
        self._once(check_metrics, problem, on | {"metric": parts["metric"], "kernel": kernel})

    def _once(self, check: Callable[[Any], None], subject: Any, what: dict[str, Any]) -> None:
        key = f"{check.__name__} {digest(what)}"
        if key not in self.passed:
            check(subject)
            self.passed.add(key)


def _check_task(config: DictConfig) -> None:
    name: Any = config.task.get("name")
    known = ("sample", *per_seed.TASKS)
    if name not in known:
        raise UserError(f"task.name must be one of {listed(known)}, {name!r} was given.")
    if name == "learn" and config.target.get("model") is not None:
        raise UserError(
            f"target.model={config.target.model} is for sampling; task=learn trains a model of its own."
        )
    if config.model is not None and name != "evaluate":
        raise UserError(
            f"model={config.model} is for task=evaluate; target.model=PATH samples from a saved model."
        )


def _check_checkpoint(config: DictConfig) -> None:
    seconds: Any = config.checkpoint.seconds
    steps: Any = config.checkpoint.steps
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not number or not math.isfinite(seconds) or seconds < 0:
        raise UserError(f"checkpoint.seconds must be a number of at least 0, {seconds!r} was given.")
    if steps is not None and (not isinstance(steps, int) or isinstance(steps, bool) or steps < 1):
        raise UserError(f"checkpoint.steps must be null or a whole number from 1, {steps!r} was given.")
