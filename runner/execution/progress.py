"""Progress on the terminal: rate and time left; a line now and then where there is no terminal."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bars

from runner.execution.reached import Pace, Reached, duration, left_of_runs

LIVE_SECONDS, PLAIN_SECONDS = 1.0, 30.0
"""How often the runs of a sweep are counted, on a terminal and where there is none."""

FIRST_SECONDS = 5.0
"""When the first line on the job at hand is due where there is no terminal; the next follow as the counts."""

NOTED_SECONDS = 10.0
"""How often work is noted for other processes, and how often a terminal looks for their notes."""

SHOWN_BARS = 8
"""Of so many other processes a terminal shows bars."""

Elsewhere = Callable[[], Sequence[Reached]]
"""Gives how far the work of other processes on the same runs is."""


class Progress:
    """How far the runs of a command and the job at hand are.

    The runs of a sweep are counted on disk, so that it does not matter which process computes them.

    Args:
        runs: what exists once a run is done, one path per run; empty for a single job.
        elsewhere: gives how far other processes are with these runs.
    """

    def __init__(self, runs: Sequence[Path] = (), elsewhere: Elsewhere = list) -> None:
        self.runs, self.elsewhere = list(runs), elsewhere
        self.started = time.monotonic()
        self._ended = Event()
        self._counter = Thread(target=self._count, daemon=True)
        self._bars: Bars | None = None
        self._sweep: TaskID | None = None
        self._job: TaskID | None = None
        self._others: list[TaskID] = []
        self._pace = Pace("", 0, 0)
        self._due: float | None = None
        self._note: Callable[[Reached], None] | None = None
        self._note_due = 0.0

    def __enter__(self) -> Self:
        global _current
        _current = self
        if sys.stderr is not None and sys.stderr.isatty():
            self._bars = Bars(*columns(), console=Console(stderr=True), transient=True)
            self._bars.start()
            if self.runs:
                self._sweep = self._bars.add_task("sweep", total=len(self.runs), rate="runs", left="")
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
        """Counts the runs that are done, and looks for what other processes noted, until the sweep ends."""
        period = LIVE_SECONDS if self._bars is not None else PLAIN_SECONDS
        counts = [(sum(path.exists() for path in self.runs), self.started)]
        looked, works, at_once = self.started, list[Reached](), 1
        while not self._ended.wait(period):
            now, done = time.monotonic(), sum(path.exists() for path in self.runs)
            if done > counts[-1][0]:
                counts.append((done, now))
            if now - looked >= NOTED_SECONDS:
                looked, works = now, list(self.elsewhere())
                at_once = max(at_once, len(works))
            left = left_of_runs(counts, len(self.runs), now, at_once)
            if self._bars is None:
                if left is not None or works:
                    print(sweep_line(done, len(self.runs), left, works), file=sys.stderr, flush=True)
            elif self._sweep is not None:
                self._bars.update(self._sweep, completed=done, left=_shown(left))
                self._show_others(self._bars, works)

    def _show_others(self, bars: Bars, works: Sequence[Reached]) -> None:
        shown = works[:SHOWN_BARS]
        while len(self._others) > len(shown):
            bars.remove_task(self._others.pop())
        while len(self._others) < len(shown):
            self._others.append(bars.add_task("", rate="", left=""))
        for task, work in zip(self._others, shown, strict=True):
            bars.update(
                task, completed=work.step, total=work.steps, description=work.title, left=_shown(work.left)
            )

    def start(self, title: str, steps: int, step: int) -> None:
        """A job starts at `step` of `steps`."""
        self._pace = Pace(title, steps, step)
        self._note_due = 0.0
        if self._bars is not None:
            self._job = self._bars.add_task(title, total=steps, completed=step, rate="", left="")

    def at(self, step: int, steps: int | None = None, title: str | None = None) -> None:
        """The job at hand is at `step`; `steps` and `title` where they may have changed."""
        work, rate, now = self._pace.at(step, steps, title), self._pace.rate, time.monotonic()
        if self._note is not None and now >= self._note_due:
            self._note_due = now + NOTED_SECONDS
            self._note(work)
        if self._bars is not None and self._job is not None:
            said, left = f"{rate:,.0f} steps/s" if rate >= 1 else "", _shown(work.left)
            self._bars.update(
                self._job, completed=step, total=work.steps, description=work.title, rate=said, left=left
            )
        elif self._due is not None and now >= self._due and step < work.steps:
            self._due = now + PLAIN_SECONDS
            print(work, file=sys.stderr, flush=True)

    def stop(self) -> None:
        """The job at hand has finished or failed."""
        if self._bars is not None and self._job is not None:
            self._bars.remove_task(self._job)
            self._job = None

    @contextmanager
    def noted_by(self, note: Callable[[Reached], None]) -> Iterator[None]:
        """While the body runs, `note` hears every `NOTED_SECONDS` how far the job at hand is."""
        before, self._note = self._note, note
        try:
            yield
        finally:
            self._note = before


def columns() -> tuple[ProgressColumn, ...]:
    """What a bar shows of its work."""
    return (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )


# Module state: a process has one terminal, and what is computed deep inside a run reports to it.
_current: Progress | None = None
_unshown = Progress()


def current() -> Progress:
    """The progress that is shown by this process; one that shows nothing in a worker."""
    return _current if _current is not None else _unshown


def sweep_line(done: int, runs: int, left: float | None, works: Sequence[Reached]) -> str:
    """How far a sweep is, where there is no terminal.

    Args:
        done: runs, of so many `runs`.
        left: seconds; None where that is not known yet.
        works: how far other processes are.
    """
    parts = [f"{done:,} of {runs:,} runs" + ("" if left is None else f", about {duration(left)} left")]
    if works:
        last = max(works, key=lambda work: math.inf if work.left is None else work.left)
        which = "" if len(works) == 1 else f"{len(works)} processes at work, the last to finish: "
        parts.append(f"{which}{last}")
    return "; ".join(parts)


def _shown(left: float | None) -> str:
    return "" if left is None else f"{duration(left)} left"
