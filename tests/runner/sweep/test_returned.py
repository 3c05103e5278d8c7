"""What is made of the jobs that a launcher returns: which of their runs are done, and why they were lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra.core.utils import JobReturn, JobStatus

from runner.execution import signals
from runner.problem.problems import Problems
from runner.store.run_store import Store
from runner.sweep import launch
from runner.sweep.job_runner import compute
from runner.sweep.jobs import Job, jobs_of, requested
from runner.sweep.launchers.requeue import interrupted_outcome
from runner.sweep.launchers.returned import outcome_of_job
from runner.sweep.outcome import Outcome
from tests.support.commands import SMALL, Call

SILENT = """Job 7_1 (task: 0) with path /scratch/.submitit/7_1/7_1_0_result.pkl
has not produced any output (state: OUT_OF_MEMORY)
Error stream produced:
----------------------------------------
slurmstepd: error: Detected 1 oom_kill event"""
FAILED = """Job (task=0) failed during processing with trace:
----------------------
Traceback (most recent call last):
  File "submission.py", line 55, in process_job
ModuleNotFoundError: No module named 'mine'

----------------------
You can check full logs with 'job.stderr(0)' and 'job.stdout(0)'or at paths:
  - /scratch/7_0_log.err"""


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """Three runs, of which the first is done."""
    monkeypatch.chdir(tmp_path)
    for seeds in ("0", "[0,1,2]"):
        (asked,) = jobs_of(requested([*SMALL, f"seed={seeds}"], multirun=True))
        if seeds == "0":
            compute(asked, [], Problems())
    return asked


def returned(value: Outcome) -> JobReturn:
    found = JobReturn()
    found.status, found.return_value = JobStatus.COMPLETED, value
    return found


def second_is_done(job: Job) -> None:
    (asked,) = jobs_of(requested([*SMALL, "seed=1"], multirun=True))
    assert compute(asked, [], Problems()).done == [job.run_ids[1]]


def test_what_a_job_did_before_it_was_queued_again_is_done_by_this_command(job: Job) -> None:
    first, second, third = job.run_ids.values()
    second_is_done(job)
    last = Outcome(done=[third], skipped=[first, second])
    found = outcome_of_job(returned(last), job, [], {first}, begun_again=True)
    assert (found.done, found.skipped) == ([third, second], [first])
    last = Outcome(done=[third], skipped=[first, second])
    found = outcome_of_job(returned(last), job, [], {first}, begun_again=False)
    assert (found.done, found.skipped) == ([third], [first, second]), "by another process"


def test_the_runs_of_an_interrupted_or_lost_job_are_counted(job: Job) -> None:
    first, second, third = job.run_ids.values()
    second_is_done(job)
    found = outcome_of_job(returned(interrupted_outcome()), job, [], {first}, begun_again=False)
    assert (found.done, found.skipped, found.cut_short) == ([second], [first], [third])
    assert found.sentence() == "1 run done, 1 skipped (done before), 1 interrupted."
    found = outcome_of_job(RuntimeError(SILENT), job, [], {first}, begun_again=True)
    assert found.sentence() == "1 run done, 1 skipped (done before), 1 failed."


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (SILENT, "Job 7_1 (task: 0) has not produced any output (state: OUT_OF_MEMORY)"),
        (FAILED, "ModuleNotFoundError: No module named 'mine'"),
        ("Job 7 was\nsent away", "Job 7 was sent away"),
    ],
)
def test_the_reason_of_a_lost_job_is_told(job: Job, said: str, why: str) -> None:
    (failure,) = outcome_of_job(RuntimeError(said), job, [], set(), begun_again=True).failures
    assert failure.message == f"The job was lost: {why}"
    assert Store("outputs").run(job.run_ids[2]).status() == "failed"


@pytest.fixture
def _launcher_that_refuses() -> Iterator[None]:
    """A handler of submitit's signal that does not queue the job again."""

    def handler(*_: object) -> None:
        raise RuntimeError("Job not requeued because: timed-out too many times.")

    before = signal.signal(signals.TIME_LIMIT, handler)
    yield
    signal.signal(signals.TIME_LIMIT, before)


@pytest.mark.usefixtures("_launcher_that_refuses")
def test_a_job_that_was_queued_as_often_as_it_may_be_says_so() -> None:
    assert signals.hand_back() == ""
    signals.listen_for_launcher()
    with signals.deferred():
        os.kill(os.getpid(), signals.TIME_LIMIT)
        (said,) = interrupted_outcome(signals.hand_back()).interrupted
    assert said == (
        "a time limit, after which a job was not queued again (timed-out too many times; "
        "hydra.launcher.max_num_timeout is how often that is done)"
    )


def test_a_job_is_queued_again_although_sigterm_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    queued: list[int] = []

    def launcher(number: int, _: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        queued.append(number)

    before = {number: signal.getsignal(number) for number in (*signals.SIGNALS, signals.TIME_LIMIT)}
    monkeypatch.setattr(signals, "_stop", signals._Stop())
    try:
        signal.signal(signals.TIME_LIMIT, launcher)
        signals.listen()
        signals.listen_for_launcher()
        with signals.deferred():  # a block of steps that is being saved
            os.kill(os.getpid(), signals.TIME_LIMIT)
            os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(signals.Interrupted, match="SIGUSR2"):
            signals.obey()
        assert signals.hand_back() == ""
        assert queued == [signals.TIME_LIMIT]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize("failed", [False, True])
def test_an_interrupted_job_hides_nothing_of_the_others(
    call: Call, monkeypatch: pytest.MonkeyPatch, failed: bool
) -> None:
    def launched(_: object, jobs: list[Job], *__: object) -> Outcome:
        outcome = compute(jobs[0], [], Problems())
        outcome.add(outcome_of_job(returned(interrupted_outcome()), jobs[1], [], set(), begun_again=True))
        if failed:
            outcome.add(outcome_of_job(RuntimeError(SILENT), jobs[2], [], set(), begun_again=True))
        return outcome

    monkeypatch.setattr(launch, "launched", launched)
    ended = call("-m", *SMALL[:-1], f"task.chains={'3,4,5' if failed else '3,4'}")
    assert ended.status == (1 if failed else 75)
    assert " tv ↓" in ended.out
    assert ended.out.endswith(f"1 run done, 1 interrupted{', 1 failed' * failed}.\n")
    assert ended.err.endswith("Stopped by a signal to a worker; repeat the command to continue.\n")
    assert ("The job was lost: Job 7_1" in ended.err) == failed
    assert ended.err.count("  repeat: ") == failed
