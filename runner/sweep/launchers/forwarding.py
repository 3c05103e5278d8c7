"""Signals passed on to this process's children, the workers of a launcher: they save, and then it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

from runner.execution.signals import passed_on

LOOK_SECONDS = 0.1
"""Time between two looks for children that have started since a signal came."""


@contextmanager
def forwarded() -> Iterator[None]:
    """Within it a signal is passed on to this process's children, which obey it, and not obeyed here.

    Those that a pool starts only after the signal get it, too.
    """
    told = _Children()
    Thread(target=told.watch, daemon=True).start()
    try:
        with passed_on(told.tell):
            yield
    finally:
        told.ended.set()


class _Children:
    """Which signal has come, and who has got it."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.told: set[int] = set()
        self.ended = Event()

    def tell(self, number: int) -> None:
        # Ctrl-C in a terminal reaches the children, too; a second SIGINT would not let them save.
        self.number = signal.SIGTERM if number == signal.SIGINT else number
        self.told.clear()  # who has had another signal gets this one
        self._pass_on(self.number)

    def watch(self) -> None:
        """Tells those that start after the signal, until the work has ended."""
        while not self.ended.wait(LOOK_SECONDS):
            if self.number is not None:
                self._pass_on(self.number)

    def _pass_on(self, number: int) -> None:
        for child in children():
            if child not in self.told:
                self.told.add(child)
                with suppress(ProcessLookupError):
                    os.kill(child, number)


def children() -> list[int]:
    """The processes that this one started and that run Python as it does, on Linux; none on other systems.

    Other programs are no workers: W&B's service, whose end nobody could tell it then, and the `pgrep` with
    which a pool looks for what it ends.
    """
    found: list[int] = []
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # a thread may have ended meanwhile
            found += filter(_runs_python, map(int, path.read_text().split()))
    return found


def _runs_python(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/exe").readlink() == Path("/proc/self/exe").readlink()
    except OSError:
        return False
