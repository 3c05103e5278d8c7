"""The outcome of a job that was computed elsewhere, from what its launcher returned."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from hydra.core.utils import JobReturn

from runner.execution.errors import RunError, UserError, one_sentence
from runner.sweep.jobs import Job, folders_of
from runner.sweep.launchers.requeue import WorkerLostError, failed_outcome
from runner.sweep.launchers.slurm_jobs import why_lost
from runner.sweep.outcome import Outcome


def outcome_of(returned: JobReturn) -> Outcome:
    """What a job gave that was computed elsewhere.

    Raises:
        UserError: if it was not computed at all.
    """
    value: Any = returned._return_value
    if isinstance(value, Outcome):
        return value
    raise UserError(f"A job could not be started: {value}")


def outcome_of_job(
    returned: JobReturn | BaseException,
    job: Job,
    hydra: Sequence[str],
    before: Collection[str],
    *,
    begun_again: bool,
) -> Outcome:
    """The same of a known job, run by run: a failure where it was lost, or could not be started.

    Args:
        hydra: overrides of Hydra itself that a command needs that repeats the job.
        before: ids of the runs that were done before the launch.
        begun_again: whether its launcher may have begun the job anew, as Slurm and Ray do. Its last attempt
            found what the others had done.
    """
    outcome = _outcome(returned, job, hydra)
    if outcome.interrupted:  # it could not say what it had done
        for folder in folders_of(job):
            (outcome.skipped if folder.is_done() else outcome.cut_short).append(folder.run_id)
    if outcome.interrupted or begun_again:
        outcome.move_to_done({*outcome.skipped}.difference(before))
    return outcome


def _outcome(returned: JobReturn | BaseException, job: Job, hydra: Sequence[str]) -> Outcome:
    if isinstance(returned, BaseException):
        return failed_outcome(job, WorkerLostError(f"The job was lost: {why_lost(returned)}"), hydra)
    try:
        return outcome_of(returned)
    except UserError as error:
        return failed_outcome(job, RunError(one_sentence(error)), hydra)
