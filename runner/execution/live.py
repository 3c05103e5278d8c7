"""What is said of work while it goes on: its state, and what was measured at recorded points.

Loggers listen; nothing depends on whether anybody does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Point:
    """A recorded point of work that goes on.

    Attributes:
        step: steps or iterations up to here.
        evaluations: of the target per chain.
        seconds: of one run.
        values: value by metric, of each run of the batch in its order.
        pictures: makes what can be shown of the run at a place of the batch, for who asks for it.
    """

    step: int
    evaluations: int
    seconds: float
    values: Sequence[Mapping[str, float]]
    pictures: Callable[[int], Mapping[str, Any]] | None = None


class Listener(Protocol):
    """What hears of the work of this process."""

    def state(self, title: str) -> None:
        """Work called `title` starts or goes on."""
        ...

    def recorded(self, point: Point) -> None:
        """A point was recorded before the last one, which is the result."""
        ...


# Module state, as the progress on the terminal: what is computed deep inside a run reports to it.
_listener: Listener | None = None


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """While the body runs, `listener` hears what this process says."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


def say_state(title: str) -> None:
    """Tells who listens that work called `title` starts or goes on."""
    if _listener is not None:
        _listener.state(title)


def say_recorded(point: Point) -> None:
    """Tells who listens what was measured at a point."""
    if _listener is not None:
        _listener.recorded(point)
