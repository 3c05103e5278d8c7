"""How far a piece of work is, and how long the rest of it will take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Reached:
    """How far a piece of work is.

    Attributes:
        title: what the work is.
        step: how much is done, of `steps`.
        left: seconds that the rest will take; None where that is not known yet.
    """

    title: str
    step: int
    steps: int
    left: float | None = None

    def __str__(self) -> str:
        left = "" if self.left is None else f", about {duration(self.left)} left"
        return f"{self.title}: {self.step:,} of {self.steps:,}{left}"


class Pace:
    """The rate of a piece of work since the end of its first block, in which its step may be compiled.

    Args:
        title: what the work is.
        steps: its length.
        step: where it starts.
    """

    def __init__(self, title: str, steps: int, step: int) -> None:
        self.title, self.steps, self.step = title, steps, step
        self.rate = 0.0
        """Steps per second; 0 until a second block has ended."""
        self._first: tuple[int, float] | None = None

    def at(self, step: int, steps: int | None = None, title: str | None = None) -> Reached:
        """How far the work is, now that it is at `step`; `steps` and `title` where they may have changed."""
        self.title, self.steps, self.step = title or self.title, steps or self.steps, step
        now = time.monotonic()
        if self._first is None:
            self._first = (step, now)
        first, since = self._first
        self.rate = (step - first) / (now - since) if now > since else 0.0
        left = (self.steps - step) / self.rate if self.rate > 0 else None
        return Reached(self.title, step, self.steps, left)


def left_of_runs(
    counts: Sequence[tuple[int, float]], runs: int, now: float, at_once: int = 1
) -> float | None:
    """Seconds that a sweep of so many `runs` still takes; None before one is done.

    The rate is that of the last half of the runs that this sweep has done: what a pause or other work cost
    before is forgotten once as many are done again. It is of two rounds of its processes at least, since runs
    that began together end together.

    Args:
        counts: (runs done, when that was seen), rising; the first is of the start.
        at_once: processes at work.
    """
    (start, _), (done, _) = counts[0], counts[-1]
    if done == start:
        return None
    since_run = max(start, min((start + done) / 2, done - 2 * at_once))
    before, since = max(count for count in counts if count[0] <= since_run)
    return (now - since) / (done - before) * (runs - done)


def duration(seconds: float) -> str:
    """``0.4 s``, ``12 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
