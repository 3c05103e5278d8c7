"""Finds what is wrong before any work: every distinct target, sampler and metric of a sweep is tried."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from runner.config.compose import sentence
from runner.execution.errors import UserError
from runner.files.locks import require_locks
from runner.models.identity import tuning_effort
from runner.problem.problems import Problems
from runner.store.run_store import Store
from runner.sweep.configured_logger import logger_of
from runner.sweep.jobs import Job
from runner.tasks.task import task_of


def preflight(jobs: Sequence[Job]) -> Problems:
    """Refuses jobs that cannot begin; the problems that it built for those that can.

    Raises:
        UserError: the first thing that is wrong; with several jobs it says in which.
    """
    problems = Problems()
    for job in jobs:
        try:
            _check(job.config, problems)
        except (UserError, OmegaConfBaseException) as error:
            said = str(error) if isinstance(error, UserError) else sentence(error)
            if len(jobs) > 1:
                where = " ".join(line for line in job.overrides if not line.startswith("seed="))
                said = f"{said.rstrip('.')} (job: {where})."
            raise UserError(said) from error
    for root in dict.fromkeys(str(job.config.output_root) for job in jobs):
        require_locks(Path(root))
    return problems


def _check(config: DictConfig, problems: Problems) -> None:
    _check_checkpoint(config)
    tuning_effort(config)
    logger_of(config)
    Store(config.output_root).require_writable()
    task = task_of(config)
    if config.model is not None and not task.reads_model:
        raise UserError(
            f"model={config.model} is for task=evaluate; target.model=PATH samples from a saved model."
        )
    task.check(config, problems)


def _check_checkpoint(config: DictConfig) -> None:
    seconds: Any = config.checkpoint.seconds
    steps: Any = config.checkpoint.steps
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not number or not math.isfinite(seconds) or seconds < 0:
        raise UserError(f"checkpoint.seconds must be a number of at least 0, {seconds!r} was given.")
    if steps is not None and (not isinstance(steps, int) or isinstance(steps, bool) or steps < 1):
        raise UserError(f"checkpoint.steps must be null or a whole number from 1, {steps!r} was given.")
