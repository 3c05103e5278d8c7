"""Progress on the terminal: rate and time left; a line now and then where there is no terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

PLAIN_SECONDS = 30.0
"""How often a sweep without a terminal says where it stands."""


class Progress:
    """Where a sweep of jobs and the job at hand stand.

    Args:
        jobs: number of jobs of a sweep; None for a single run.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs, self.finished = jobs, 0
        self.begun = self.said = time.monotonic()
        self._bars: Bars | None = None
        self._sweep: TaskID | None = None
        self._job: TaskID | None = None
        self._first = (0, self.begun)

    def __enter__(self) -> Self:
        global _current
        _current = self
        if sys.stderr.isatty():
            columns = (
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
            )
            self._bars = Bars(*columns, console=Console(stderr=True), transient=True)
            self._bars.start()
            if self.jobs is not None:
                self._sweep = self._bars.add_task("sweep", total=self.jobs, rate="jobs")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _current
        _current = None
        if self._bars is not None:
            self._bars.stop()

    def begin(self, title: str, steps: int, step: int) -> None:
        """A job starts at `step` of `steps`."""
        self._first = (step, time.monotonic())
        if self._bars is not None:
            self._job = self._bars.add_task(title, total=steps, completed=step, rate="")

    def at(self, step: int) -> None:
        """The job at hand has come to `step`."""
        if self._bars is not None and self._job is not None:
            first, begun = self._first
            rate = (step - first) / max(time.monotonic() - begun, 1e-9)
            self._bars.update(self._job, completed=step, rate=f"{rate:,.0f} steps/s")

    def end(self) -> None:
        """The job at hand has ended, well or not."""
        if self._bars is not None and self._job is not None:
            self._bars.remove_task(self._job)
            self._job = None

    def job_ended(self) -> None:
        """One more job of the sweep has ended."""
        self.finished += 1
        if self._bars is not None and self._sweep is not None:
            self._bars.update(self._sweep, completed=self.finished)
        elif self.jobs is not None and time.monotonic() - self.said > PLAIN_SECONDS:
            self.said = time.monotonic()
            left = (self.said - self.begun) / self.finished * (self.jobs - self.finished)
            print(
                f"{self.finished} of {self.jobs} jobs, about {duration(left)} left",
                file=sys.stderr,
                flush=True,
            )


_current: Progress | None = None


def current() -> Progress:
    """The progress that is shown by this process; one that shows nothing in a worker."""
    return _current if _current is not None else Progress()


def duration(seconds: float) -> str:
    """``0.4 s``, ``12 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
