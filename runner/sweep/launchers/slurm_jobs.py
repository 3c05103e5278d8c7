"""Jobs of Slurm: a signal is not lost while they start, nor the others where Slurm has lost some.

If the command that waits for them is stopped, they go on, and it says so.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runner.execution.errors import one_sentence
from runner.execution.signals import HOLD_BACK, Interrupted

SILENT = re.compile(r"(Job .*?) with path .*\n(has not .*)")
"""How submitit begins about a job that left no result: which one, and on the next line its state in Slurm."""

TRACE = re.compile(r"\n-{22}\n(.*\S)\s*\n-{22}\n", re.DOTALL)
"""Where in its words the traceback is of a job that failed before it began."""


BEGIN = f"{HOLD_BACK}; from submitit.core.submission import submitit_main; submitit_main()"
"""What a job runs instead of `submitit.core._submit`, which a signal ends that comes while it imports."""


@contextmanager
def jobs_of_submitit() -> Iterator[None]:
    """What holds while a launcher of submitit makes jobs and waits for them."""
    with signals_held_back(), lost_jobs_returned():
        yield


@contextmanager
def signals_held_back() -> Iterator[None]:
    """While it lasts, the jobs that submitit makes keep signals until they can obey."""
    from submitit.local.local import LocalExecutor
    from submitit.slurm.slurm import SlurmExecutor

    def command(executor: LocalExecutor | SlurmExecutor) -> str:
        return f"{executor.python} -u -c {shlex.quote(BEGIN)} {shlex.quote(str(executor.folder))}"

    name = "_submitit_command_str"  # where another version has none, its own command stays
    kinds = [kind for kind in (LocalExecutor, SlurmExecutor) if name in vars(kind)]
    before = [vars(kind)[name] for kind in kinds]
    for kind in kinds:
        setattr(kind, name, property(command))
    try:
        yield
    finally:
        for kind, own in zip(kinds, before, strict=True):
            setattr(kind, name, own)


@contextmanager
def lost_jobs_returned() -> Iterator[None]:
    """While it lasts, the launcher for Slurm gets the error of a lost job as its result, and waits on.

    Otherwise it raises the first one, and what the other jobs give is not waited for.
    """
    from submitit.core.core import Job
    from submitit.core.utils import UncompletedJobError
    from submitit.slurm.slurm import SlurmJob

    results = Job.results

    def awaited(job: Job[Any]) -> list[Any]:
        try:
            return results(job)
        except UncompletedJobError as error:
            return [error]
        except Interrupted as told:
            if isinstance(job, SlurmJob):
                array, _, _ = job.job_id.partition("_")
                told.then = (
                    f"the jobs go on in Slurm (squeue -j {array} shows them, scancel {array} ends them); "
                    "repeat the command when they have ended, since it would submit them again"
                )
            raise

    setattr(Job, "results", awaited)  # noqa: B010 - to mypy a method cannot be assigned
    try:
        yield
    finally:
        setattr(Job, "results", results)  # noqa: B010


def why_lost(error: BaseException) -> str:
    """The error of a lost job in one line: its state in Slurm, or the last line of its traceback."""
    said = str(error)
    if (found := SILENT.match(said)) is not None:
        return " ".join(found.groups())
    if (found := TRACE.search(said)) is not None:
        return found[1].splitlines()[-1]
    return one_sentence(error)
