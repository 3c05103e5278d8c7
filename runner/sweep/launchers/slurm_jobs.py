"""Jobs that Slurm has lost, to a full memory or a node that is gone, do not end the wait for the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runner.execution.errors import one_sentence

SILENT = re.compile(r"(Job .*?) with path .*\n(has not .*)")
"""How submitit begins about a job that left no result: which one, and on the next line its state in Slurm."""

TRACE = re.compile(r"\n-{22}\n(.*\S)\s*\n-{22}\n", re.DOTALL)
"""Where in its words the traceback is of a job that failed before it began."""


@contextmanager
def lost_jobs_returned() -> Iterator[None]:
    """While it lasts, the launcher for Slurm gets the error of a lost job as its result, and waits on.

    Otherwise it raises the first one, and what the other jobs give is not waited for.
    """
    from submitit.core.core import Job
    from submitit.core.utils import UncompletedJobError

    results = Job.results

    def awaited(job: Job[Any]) -> list[Any]:
        try:
            return results(job)
        except UncompletedJobError as error:
            return [error]

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
