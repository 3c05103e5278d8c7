"""Finds what is wrong before any work: every distinct target, sampler and metric of a sweep is tried."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from omegaconf import DictConfig

from runner.execution.compiling.choice import require_compiler
from runner.execution.devices import device_type, lacks, present_device
from runner.execution.errors import UnservedError, UserError, warn
from runner.execution.progress import current
from runner.files.locks import require_locks
from runner.problem.problems import Problems
from runner.store.run_store import Store
from runner.sweep.configured_logger import logger_of
from runner.sweep.job_errors import in_job
from runner.sweep.jobs import Job, Request
from runner.sweep.search.objective import check_measured
from runner.sweep.standing import cell_of
from runner.tasks.task import task_of


def preflight(jobs: Sequence[Job], problems: Problems | None = None, *, elsewhere: bool = False) -> Problems:
    """Refuses jobs that cannot begin; the problems that it built for those that can.

    Args:
        problems: those that have been built already.
        elsewhere: whether they are computed on other machines, which may have a GPU that is not here.

    Raises:
        UserError: the first thing that is wrong; with several jobs it says in which.
    """
    roots = dict.fromkeys(str(job.config.output_root) for job in jobs)
    for root in roots:
        Store(root).require_writable()
    found = Problems() if problems is None else problems
    _try([_here(job) for job in jobs] if elsewhere else jobs, found)
    for root in roots:
        require_locks(Path(root))
    return found


def tried_out(request: Request) -> list[Job]:
    """The jobs of a command that can begin; what `preflight` does, without touching the output root.

    Raises:
        UserError: the first thing that is wrong; with several jobs it says in which.
    """
    jobs, problems = request.jobs, Problems()
    if request.pattern:
        jobs = served(jobs, problems)
    _try(jobs, problems)
    return jobs


def _try(jobs: Sequence[Job], problems: Problems) -> None:
    progress = current()
    progress.start("checking the jobs", len(jobs), 0)
    for place, job in enumerate(jobs):
        progress.at(place)
        with in_job(job.overrides, len(jobs)):
            _check(job.config, problems)
    progress.stop()


def _here(job: Job) -> Job:
    """`job` as it can be tried here: on the CPU where it is for a GPU that other machines have."""
    if not lacks(device_type(job.config.device)):
        return job
    config = copy.deepcopy(job.config)
    config.device = "cpu"
    return replace(job, config=config)


def served(jobs: Sequence[Job], problems: Problems, *, elsewhere: bool = False) -> list[Job]:
    """The jobs of a pattern such as ``sampler=glob(*)`` without those whose target cannot serve them.

    Each that is left out is named in a warning by what not all jobs have in common.

    Raises:
        UserError: if none is left.
    """
    kept, refused = [], dict[str, UnservedError]()
    common = set[str].intersection(*(set(each.overrides) for each in jobs))
    for job in jobs:
        try:
            with in_job(job.overrides, 1):
                own = (_here(job) if elsewhere else job).config
                task_of(own).check(own, problems)
        except UnservedError as error:
            refused[cell_of(job, common)] = error
        else:
            kept.append(job)
    if not kept:
        raise UserError(f"No job of the pattern is left: {next(iter(refused.values()))}")
    for where, why in refused.items():
        warn(f"left out: {where} ({str(why).rstrip('.')}).")
    return kept


def _check(config: DictConfig, problems: Problems) -> None:
    require_compiler(config.compile, present_device(config.device))
    logger_of(config)
    task_of(config).check(config, problems)
    check_measured(config, problems)
