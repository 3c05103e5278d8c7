"""Signals that ask a process to stop: obeyed at once, or at the next point where the state can be saved."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)


class Interrupted(BaseException):
    """The process was told to stop; the exit status 75 (EX_TEMPFAIL) says that repeating the command helps."""

    status = 75


class _Stop:
    """Which signal has come, and whether it may be obeyed at once."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.deferred = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        repeated = self.signal is not None
        self.signal = number
        # A second Ctrl-C does not wait for the next block.
        if not self.deferred or (repeated and number == signal.SIGINT):
            raise Interrupted(signal.Signals(number).name)


_stop = _Stop()


def listen() -> None:
    """Makes the signals raise `Interrupted`; does nothing outside the main thread, where it is impossible."""
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            signal.signal(number, _stop)


@contextmanager
def deferred() -> Iterator[None]:
    """Within it a signal only takes effect at the next `obey`."""
    _stop.deferred += 1
    try:
        yield
    finally:
        _stop.deferred -= 1


def wanted() -> bool:
    """Whether the process was told to stop."""
    return _stop.signal is not None


def obey() -> None:
    """Raises `Interrupted` if the process was told to stop."""
    if _stop.signal is not None:
        raise Interrupted(signal.Signals(_stop.signal).name)
