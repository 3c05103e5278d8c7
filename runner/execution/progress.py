"""Progress on the terminal: rate and time left; a line now and then where there is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread
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

LIVE_SECONDS, PLAIN_SECONDS = 1.0, 30.0
"""How often the runs of a sweep are counted, on a terminal and where there is none."""

FIRST_SECONDS = 5.0
"""When the first line on the job at hand is due where there is no terminal; the next follow as the counts."""


class Progress:
    """How far the runs of a command and the job at hand are.

    The runs of a sweep are counted on disk, so that it does not matter which process computes them.

    Args:
        runs: what exists once a run is done, one path per run; empty for a single job.
    """

    def __init__(self, runs: Sequence[Path] = ()) -> None:
        self.runs = list(runs)
        self.started = time.monotonic()
        self._ended = Event()
        self._counter = Thread(target=self._count, daemon=True)
        self._bars: Bars | None = None
        self._sweep: TaskID | None = None
        self._job: TaskID | None = None
        self._first = (0, self.started)
        self._what = ("", 0)
        self._due: float | None = None

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
            if self.runs:
                self._sweep = self._bars.add_task("sweep", total=len(self.runs), rate="runs")
        else:
            self._due = self.started + FIRST_SECONDS
        if self.runs:
            self._counter.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _current
        _current = None
        self._ended.set()
        if self._bars is not None:
            self._bars.stop()

    def _count(self) -> None:
        """Counts the runs that are done, until the sweep ends."""
        period = LIVE_SECONDS if self._bars is not None else PLAIN_SECONDS
        counts = [(sum(path.exists() for path in self.runs), self.started)]
        while not self._ended.wait(period):
            done = sum(path.exists() for path in self.runs)
            if done > counts[-1][0]:
                counts.append((done, time.monotonic()))
            if self._bars is not None and self._sweep is not None:
                self._bars.update(self._sweep, completed=done)
            elif done > counts[0][0]:
                left = duration(left_after(counts, len(self.runs), time.monotonic()))
                print(f"{done} of {len(self.runs)} runs, about {left} left", file=sys.stderr, flush=True)

    def start(self, title: str, steps: int, step: int) -> None:
        """A job starts at `step` of `steps`."""
        self._first, self._what = (step, time.monotonic()), (title, steps)
        if self._bars is not None:
            self._job = self._bars.add_task(title, total=steps, completed=step, rate="")

    def at(self, step: int, steps: int | None = None, title: str | None = None) -> None:
        """The job at hand is at `step`; `steps` and `title` where they may have changed."""
        self._what = (title or self._what[0], steps or self._what[1])
        (title, steps), (first, started), now = self._what, self._first, time.monotonic()
        rate = (step - first) / max(now - started, 1e-9)
        if self._bars is not None and self._job is not None:
            shown = f"{rate:,.0f} steps/s" if rate >= 1 else ""
            self._bars.update(self._job, completed=step, total=steps, description=title, rate=shown)
        elif self._due is not None and now >= self._due and step < steps:
            self._due = now + PLAIN_SECONDS
            left = f", about {duration((steps - step) / rate)} left" if rate > 0 else ""
            print(f"{title}: {step:,} of {steps:,}{left}", file=sys.stderr, flush=True)

    def stop(self) -> None:
        """The job at hand has finished or failed."""
        if self._bars is not None and self._job is not None:
            self._bars.remove_task(self._job)
            self._job = None


# Module state: a process has one terminal, and what is computed deep inside a run reports to it.
_current: Progress | None = None


def current() -> Progress:
    """The progress that is shown by this process; one that shows nothing in a worker."""
    return _current if _current is not None else Progress()


def left_after(counts: Sequence[tuple[int, float]], runs: int, now: float) -> float:
    """Seconds that a sweep of so many `runs` still takes.

    The rate is that of the last half of the runs that this sweep has done: what a pause or other work cost
    before is forgotten once as many are done again.

    Args:
        counts: (runs done, when that was seen), rising; the first is of the start.
    """
    done, _ = counts[-1]
    before, since = max(count for count in counts if count[0] <= (counts[0][0] + done) / 2)
    return (now - since) / (done - before) * (runs - done)


def duration(seconds: float) -> str:
    """``0.4 s``, ``12 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
