"""Jobs whose worker was killed go back into the queue, and the rest goes on."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from runner.execution.storage_errors import StorageError
from runner.problem.problems import Problems
from runner.report.selection.stored_runs import stored_runs
from runner.store.run_store import Store
from runner.sweep.job_runner import compute
from runner.sweep.jobs import Job, jobs_of, requested
from runner.sweep.launchers import requeue
from runner.sweep.launchers.requeue import WorkerLostError, launched
from runner.sweep.outcome import Outcome
from tests.support.commands import Call, refusal

SWEEP = (
    "-m",
    "target=bernoulli4",
    "sampler=gibbs",
    "metric=tv",
    "task.steps=20",
    "task.chains=3,4,5,6",
    "seed=0",
)
LOST = "A worker was killed."


class Pool:
    """A launcher with two workers, which breaks where a job kills its worker.

    Attributes:
        deaths: how often each job, by its number of chains, kills its worker from now on.
        launches: the jobs of each launch.
    """

    def __init__(self, deaths: dict[int, int]) -> None:
        self.deaths, self.launches = Counter(deaths), list[list[int]]()

    def __call__(self, jobs: Sequence[Job]) -> Iterable[Outcome]:
        """Computes two jobs at a time; where one of the two dies, the other is killed too."""
        self.launches.append([chains(job) for job in jobs])
        outcomes = []
        for at in range(0, len(jobs), 2):
            pair = jobs[at : at + 2]
            dying = [job for job in pair if self.deaths[chains(job)] > 0]
            for job in pair if dying else []:
                folder = Store("outputs").run(job.run_ids[0])
                folder.prepare()
                # As a killed process leaves it: signed, and not locked.
                folder.lock.path.write_text(
                    json.dumps({"host": "node3", "pid": 12, "since": str(len(self.launches))})
                )
            if dying:
                self.deaths.subtract(map(chains, dying))
                raise WorkerLostError(LOST)
            outcomes += [compute(job, [], Problems()) for job in pair]
        return outcomes


def chains(job: Job) -> int:
    return int(job.config.task.chains)


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(requeue, "END_SECONDS", 0.0)
    return jobs_of(requested(SWEEP[1:], multirun=True))


def test_a_killed_worker_costs_no_run(jobs: list[Job], capsys: pytest.CaptureFixture[str]) -> None:
    pool = Pool({5: 1})
    outcome = launched(pool, jobs, [], retries=3)
    assert pool.launches == [[3, 4, 5, 6], [5, 6]]
    assert outcome.sentence() == "4 runs done."
    assert outcome.status == 0
    assert (
        capsys.readouterr().err == "warning: A worker was killed; 2 unfinished jobs go back into the queue.\n"
    )


def test_a_job_that_always_kills_its_worker_fails_alone(jobs: list[Job]) -> None:
    pool = Pool({3: 100})
    outcome = launched(pool, jobs, ["hydra/launcher=joblib"], retries=3)
    assert pool.launches == [[3, 4, 5, 6], [5, 6], [3, 4], [3, 4], [3], [4]]
    assert outcome.sentence() == "3 runs done, 1 failed."
    assert outcome.status == 1
    (failure,) = outcome.failures
    assert failure.message == f"The worker that computed this was killed 4 times: {LOST}"
    assert failure.command.startswith("python -m runner hydra/launcher=joblib ")
    assert list(failure.runs.values()) == list(jobs[0].run_ids.values())
    assert Store("outputs").run(jobs[0].run_ids[0]).status() == "failed"
    # Also of a run that no worker had begun its configuration is known.
    assert {run.folder.run_id: run.status for run in stored_runs("outputs")}[jobs[0].run_ids[0]] == "failed"


def test_no_retries(jobs: list[Job]) -> None:
    pool = Pool({3: 1})
    outcome = launched(pool, jobs, [], retries=0)
    assert pool.launches == [[3, 4, 5, 6], [5, 6]]
    assert outcome.sentence() == "2 runs done, 2 failed."


def test_workers_that_never_begin_are_not_launched_for_ever(jobs: list[Job]) -> None:
    launches: list[int] = []

    def launch(group: Sequence[Job]) -> list[Outcome]:
        launches.append(len(group))
        raise WorkerLostError(LOST)

    outcome = launched(launch, jobs, [], retries=2)
    assert launches == [4, 4, 1, 1, 1, 1]
    assert outcome.sentence() == "0 runs done, 4 failed."


def test_a_failure_that_only_the_disk_knows_is_reported_and_not_repeated(jobs: list[Job]) -> None:
    """The pool breaks after a job has failed by itself: its outcome is lost with the pool."""
    config = jobs[0].config.copy()
    config.task.start = "nowhere"
    failing = Job((*jobs[0].overrides, "task.start=nowhere"), "", {}, config, {0: "0123456789abcdef"})
    pool, launches = Pool({}), []

    def launch(group: Sequence[Job]) -> Iterable[Outcome]:
        launches.append(len(group))
        outcomes = list(pool(group))
        if len(launches) == 1:
            raise WorkerLostError(LOST)
        return outcomes

    outcome = launched(launch, [failing, *jobs[1:]], [], retries=3)
    assert launches == [4]
    assert outcome.sentence() == "3 runs done, 1 failed."
    assert "nowhere" in outcome.failures[0].message


def test_a_launcher_whose_disk_is_full_fails_what_is_left(jobs: list[Job]) -> None:
    def launch(group: Sequence[Job]) -> list[Outcome]:
        compute(group[0], [], Problems())
        raise StorageError("No space is left on the disk.")

    outcome = launched(launch, jobs, [], retries=3)
    assert outcome.sentence() == "1 run done, 3 failed."
    assert {failure.message for failure in outcome.failures} == {"No space is left on the disk."}


def test_retries_are_a_whole_number(call: Call) -> None:
    for value in ("-1", "1.5", "true"):
        assert call(*SWEEP, f"sweep.retries={value}").err.startswith(
            "error: sweep.retries must be a whole number of at least 0, "
        )
    assert "did you mean 'sweep.retries'?" in refusal("-m", *SWEEP[1:], "sweep.retry=2")


KILLER = """
import os, pathlib, signal
from targets.synthetic.bernoulli4 import Bernoulli4

class Killer(Bernoulli4):
    # Kills the process that evaluates it, unless it is that of the command, once for each file.
    def log_prob(self, theta):
        if os.getpid() != int(os.environ["COMMAND"]) and (left := sorted(pathlib.Path("deaths").iterdir())):
            left[0].unlink(missing_ok=True)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().log_prob(theta)
"""


@pytest.mark.slow
def test_a_killed_worker_of_joblib(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="the extra joblib is not installed")
    loky = pytest.importorskip("joblib.externals.loky")
    loky.get_reusable_executor().shutdown()  # workers of a test before know another PYTHONPATH
    (tmp_path / "killer.py").write_text(KILLER)
    (tmp_path / "deaths").mkdir()
    (tmp_path / "deaths" / "1").touch()
    monkeypatch.setenv("COMMAND", str(os.getpid()))
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", os.getcwd())])
    )
    monkeypatch.syspath_prepend(tmp_path)
    ended = call(*SWEEP, "target._target_=killer.Killer", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    assert ended.status == 0, ended.err
    assert "unfinished jobs go back into the queue." in ended.err
    assert "Traceback" not in ended.err
    assert ended.out.endswith("\n4 runs done.\n")
    assert not list((tmp_path / "deaths").iterdir())
