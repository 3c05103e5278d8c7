"""What can be found wrong before any work is: every distinct target, sampler and metric of a sweep is tried."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from runner.build import build, check
from runner.compose import sentence
from runner.errors import UserError
from runner.identity import digest, identifying
from runner.logger import mirror
from runner.store import Store
from runner.sweep import Job


def preflight(jobs: Sequence[Job]) -> None:
    """Refuses jobs that cannot begin.

    Raises:
        UserError: the first thing that is wrong; with several jobs it says in which.
    """
    tried: set[str] = set()
    for job in jobs:
        try:
            _check_checkpoint(job.config)
            device = next(iter(_devices(job)))
            key = digest(identifying(job.config, device))
            if key not in tried:
                check(build(job.config))
                tried.add(key)
            mirror(job.config)
            Store(job.config.output_root).require_writable()
        except UserError as error:
            if len(jobs) == 1:
                raise
            where = " ".join(line for line in job.overrides if not line.startswith("seed="))
            raise UserError(f"{str(error).rstrip('.')} (job: {where}).") from error
        except OmegaConfBaseException as error:
            raise UserError(sentence(error)) from error


def _devices(job: Job) -> list[str]:
    from runner.devices import device_type

    return [device_type(job.config.device)]


def _check_checkpoint(config: DictConfig) -> None:
    seconds: Any = config.checkpoint.seconds
    steps: Any = config.checkpoint.steps
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not number or not math.isfinite(seconds) or seconds < 0:
        raise UserError(f"checkpoint.seconds must be a number of at least 0, {seconds!r} was given.")
    if steps is not None and (not isinstance(steps, int) or isinstance(steps, bool) or steps < 1):
        raise UserError(
            f"checkpoint.steps must be null or a whole number of at least 1, {steps!r} was given."
        )
