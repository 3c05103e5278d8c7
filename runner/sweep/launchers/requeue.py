"""Jobs whose worker was killed go back into the queue; the others go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from runner.execution.errors import RunError, one_sentence, warn
from runner.execution.storage_errors import StorageError
from runner.files.lock_holders import Holder, holder, is_held
from runner.store.run_folder import RunFolder
from runner.store.written_config import config_texts
from runner.sweep.jobs import Job, folders_of
from runner.sweep.outcome import Failure, Outcome
from runner.tasks.run_identity import written_run

RAY = ("WorkerCrashedError", "OutOfMemoryError", "NodeDiedError", "LocalRayletDiedError", "ObjectLostError")
"""Errors of Ray for a task whose worker or node is gone more often than Ray retries."""

END_SECONDS = 10.0
"""What a launcher that broke had still running has ended after that long."""

Launch = Callable[[Sequence[Job]], Iterable[Outcome]]


class WorkerLostError(RunError):
    """A process that computed jobs for this one was killed."""


def is_worker_lost(error: BaseException) -> bool:
    """Whether an error of a launcher says that a worker was killed."""
    of_ray = (cls.__name__ for cls in type(error).__mro__ if cls.__module__.startswith("ray."))
    return isinstance(error, BrokenExecutor) or any(name in RAY for name in of_ray)


def launched(launch: Launch, jobs: Sequence[Job], hydra: Sequence[str], retries: int) -> Outcome:
    """The outcome of all `jobs`, which `launch` computes; a failure does not end the others.

    A pool that breaks does not say which job broke it. All that were being computed go back into the queue,
    behind those that had not begun, at most `retries` times; the last time each is launched alone, so that a
    job fails by its own fault only.

    Args:
        launch: raises `WorkerLostError` or `StorageError` where it breaks.
        hydra: overrides of Hydra itself that a command needs that repeats a job.
    """
    queue = _Queue(jobs, hydra, retries)
    while queue.groups:
        group = queue.groups.pop(0)
        before = {number: _traces(jobs[number]) for number in group}
        try:
            for returned in launch([jobs[number] for number in group]):
                queue.outcome.add(returned)
        except (WorkerLostError, StorageError) as error:
            queue.take_back(before, error)
    queue.outcome.move_to_done(queue.finished)
    return queue.outcome


@dataclass
class _Trace:
    """What a run had left on disk before it was launched: who died with its lock, and a former failure."""

    folder: RunFolder
    done: bool
    holder: Holder | None
    failure: int

    @property
    def begun(self) -> bool:
        """Whether a worker has begun it since and has not given it back."""
        return (found := holder(self.folder.lock.path)) is not None and found != self.holder

    def failed(self) -> Failure | None:
        """Why it has failed since, if it has."""
        path = self.folder.path / "failure.json"
        return Failure.read(path) if _changed(path) not in (0, self.failure) else None


def _traces(job: Job) -> list[_Trace]:
    return [
        _Trace(
            folder,
            folder.is_done(),
            holder(folder.lock.path),
            _changed(folder.path / "failure.json"),
        )
        for folder in folders_of(job)
    ]


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


@dataclass
class _Queue:
    """Groups of jobs, by number, launched one after the other; how often each job has lost a worker."""

    jobs: Sequence[Job]
    hydra: Sequence[str]
    retries: int
    outcome: Outcome = field(default_factory=Outcome)
    finished: set[str] = field(default_factory=set)
    groups: list[list[int]] = field(init=False)
    lost: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.groups = [list(range(len(self.jobs)))]

    def take_back(self, before: dict[int, list[_Trace]], error: RunError) -> None:
        """Sorts the jobs of a launch that broke: into the outcome, or back into the queue."""
        wait_for_workers(trace.folder for traces in before.values() for trace in traces)
        left = [number for number, traces in before.items() if not self._settled(traces)]
        # Where no job has left a trace, the workers died before they began.
        begun = [number for number in left if any(trace.begun for trace in before[number])] or left
        self.lost.update(begun)
        tries = self.retries if isinstance(error, WorkerLostError) else -1
        for number in left:
            if self.lost[number] > tries:
                self._fail(number, error)
        again = [number for number in left if self.lost[number] <= tries]
        fresh = [number for number in again if not self.lost[number]]
        together = [number for number in again if 0 < self.lost[number] < tries]
        alone = [[number] for number in again if self.lost[number] == tries > 0]
        self.groups[:0] = [group for group in (fresh, together, *alone) if group]
        if again:
            warn(f"{one_sentence(error).rstrip('.')}; {len(again)} unfinished jobs go back into the queue.")

    def _settled(self, traces: list[_Trace]) -> bool:
        """Whether a job came to its end; what is known of that only from the disk goes into the outcome."""
        done = [trace.folder.run_id for trace in traces if trace.folder.is_done()]
        self.finished |= set(done) - {trace.folder.run_id for trace in traces if trace.done}
        undone = [trace for trace in traces if trace.folder.run_id not in done]
        failures = [failure for trace in undone if (failure := trace.failed())]
        failed = {run_id for failure in failures for run_id in failure.runs.values()}
        settled = all(trace.folder.run_id in {*done, *failed} for trace in traces)
        if settled:
            distinct = {failure.command: failure for failure in failures}
            self.outcome.add(Outcome(skipped=done, failures=list(distinct.values())))
        return settled

    def _fail(self, number: int, error: RunError) -> None:
        job, times = self.jobs[number], self.lost[number]
        if isinstance(error, WorkerLostError):
            often = "once" if times == 1 else f"{times} times"
            error = WorkerLostError(
                f"The worker that computed this was killed {often}: {one_sentence(error)}"
            )
        self.outcome.add(failed_outcome(job, error, self.hydra))


def failed_outcome(job: Job, error: RunError, hydra: Sequence[str]) -> Outcome:
    """The outcome of a job that `error` ended from outside, which its unfinished runs keep on disk."""
    folders = {folder.run_id: folder for folder in folders_of(job)}
    done = [run_id for run_id, folder in folders.items() if folder.is_done()]
    runs = {seed: run_id for seed, run_id in job.run_ids.items() if run_id not in done}
    failure = Failure.of(error, [*hydra, *job.overrides], runs)
    texts = config_texts(written_run(job.config), runs)
    for seed, run_id in runs.items():
        with suppress(OSError, StorageError):
            folders[run_id].checked()  # one that cannot be read now may be done: nothing is written into it
            folders[run_id].prepare()  # no worker may have begun it
            folders[run_id].fail(failure.to_json(), texts[seed])
    return Outcome(skipped=done, failures=[failure])


def interrupted_outcome(refused: str = "") -> Outcome:
    """The outcome of a job whose worker was told to stop.

    Args:
        refused: why the launcher did not queue it again at its time limit; empty where a signal ended it.
    """
    if not refused:
        return Outcome(interrupted=["a signal to a worker"])
    why = refused.rpartition("because: ")[2].rstrip(".")
    limit = "hydra.launcher.max_num_timeout is how often that is done"
    return Outcome(interrupted=[f"a time limit, after which a job was not queued again ({why}; {limit})"])


def wait_for_workers(folders: Iterable[RunFolder]) -> None:
    """Waits until the workers of a launcher that broke have ended, and with them their locks."""
    paths, until = [folder.lock.path for folder in folders], monotonic() + END_SECONDS
    while monotonic() < until and any(map(is_held, paths)):
        sleep(0.1)
