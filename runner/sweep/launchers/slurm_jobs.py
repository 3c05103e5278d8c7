"""Jobs that Slurm has lost, to a full memory or a node that is gone, do not end the wait for the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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
