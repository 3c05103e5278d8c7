"""Signals that ask a process to stop: obeyed at once, or at the next point where the state can be saved."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from runner.execution.early_errors import REPEAT

SAVING_SECONDS = 3.0
"""What a worker needs to end its block of steps and save it."""

ECHO_SECONDS = 1.0
"""A signal so soon after the first is the same one: keyboards, `timeout` and wrappers send it twice."""

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1)

TIME_LIMIT = signal.SIGUSR2
"""With it submitit announces that Slurm's time limit is near, or that the job is preempted."""

HELD_BACK = (TIME_LIMIT, signal.SIGTERM)
"""Signals that end a process of a launcher which has handlers for them only once it has imported."""

_NAMES = ", ".join(f"signal.{each.name}" for each in HELD_BACK)

HOLD_BACK = f"import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [{_NAMES}])"
"""Python for the first line of such a process; `listen_for_launcher` lets them come."""

Handler = Callable[[int, FrameType | None], object]


class Interrupted(BaseException):
    """The process was told to stop; the exit status 75 (EX_TEMPFAIL) says that repeating it helps.

    Attributes:
        then: what to do next, in the words of the message.
    """

    status = 75
    then = REPEAT


class _Stop:
    """Which signal has come, and what is to be done about it now."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.since = 0.0
        self.pressed = False
        self.deferred = 0
        self.pass_on: Callable[[int], None] | None = None
        self.commanding: int | None = None
        self.launcher: Handler | None = None
        self.raised: type[BaseException] = Interrupted

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGTERM and self.signal == TIME_LIMIT:
            return  # Slurm sends it, too; submitit passes over it
        now, repeated = time.monotonic(), self.signal is not None
        if not repeated:
            self.since = now
        self.pressed |= number == signal.SIGINT
        self.signal = number
        if self.pass_on is not None:
            self.pass_on(number)
            return
        if repeated and now - self.since < ECHO_SECONDS:
            return
        name = signal.Signals(number).name
        if not self.deferred:
            raise self.raised(name)
        # A second Ctrl-C does not wait for the next block.
        if repeated and number == signal.SIGINT:
            raise self.raised(f"a second {name}, before the work since the last checkpoint was saved")


# Module state: a signal is delivered to the process, and its handler can be passed nothing.
_stop = _Stop()


def listen() -> None:
    """Makes the signals raise `Interrupted`; does nothing outside the main thread, where it is impossible."""
    _handle(_stop)


def ignore() -> None:
    """For a process that has said how it was stopped: a second signal must not cut its end short."""
    _handle(lambda number, frame: None)


def _handle(handler: Handler) -> None:
    """Gives the signals this handler, in the main thread only; nohup stays one against a closed terminal."""
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, handler)


def listen_for_launcher() -> None:
    """Obeys the signal of a launcher that has a handler for it, which `hand_back` then calls.

    Raises:
        Interrupted: if one came while the process was being started, which held it back (`HOLD_BACK`).
    """
    handler = signal.getsignal(TIME_LIMIT)
    if callable(handler) and handler is not _stop:
        _stop.launcher = handler
        signal.signal(TIME_LIMIT, _stop)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_BACK)


def hand_back() -> str:
    """Lets the launcher do what its signal is for, once the state is saved: queue the job again, and exit.

    Returns:
        Why it did not, such as that the job was queued as often as it may be; empty for another signal.
    """
    if _stop.signal == TIME_LIMIT and _stop.launcher is not None:
        try:
            _stop.launcher(TIME_LIMIT, None)
        except Exception as error:
            return str(error)
    return ""


@contextmanager
def deferred() -> Iterator[None]:
    """Within it a signal only takes effect at the next `obey`."""
    _stop.deferred += 1
    try:
        yield
    finally:
        _stop.deferred -= 1


@contextmanager
def passed_on(pass_on: Callable[[int], None]) -> Iterator[None]:
    """Within it `pass_on` gets the number of a signal, which is not obeyed here."""
    _stop.pass_on = pass_on
    try:
        yield
    finally:
        _stop.pass_on = None


@contextmanager
def keyboard_interrupts() -> Iterator[None]:
    """Within it a signal is a KeyboardInterrupt, all that waits in C pass on; it leaves as `Interrupted`."""
    _stop.raised = KeyboardInterrupt
    try:
        yield
    except KeyboardInterrupt as pressed:
        raise Interrupted(signal.Signals(_stop.signal or signal.SIGINT).name) from pressed
    finally:
        _stop.raised = Interrupted


@contextmanager
def commanding() -> Iterator[None]:
    """Within it this process is the one whose command handles `Interrupted`, and no worker."""
    before, _stop.commanding = _stop.commanding, os.getpid()
    try:
        yield
    finally:
        _stop.commanding = before


def in_worker() -> bool:
    """Whether this process computes jobs for another one; a fork of the commanding process is a worker."""
    return _stop.commanding != os.getpid()


def leave_worker() -> None:
    """Ends this worker after a Ctrl-C, which its command has had too, so that no further job is handed to it.

    Hundreds of jobs may wait, and each takes Hydra a moment. The other workers get the time to save.
    """
    if _stop.pressed:
        time.sleep(SAVING_SECONDS)
        os._exit(Interrupted.status)


def stop_wanted() -> bool:
    """Whether the process was told to stop."""
    return _stop.signal is not None


@contextmanager
def listening() -> Iterator[None]:
    """`listen`, and afterwards the handlers of before: for a process that is not ours, such as a notebook."""
    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in SIGNALS if main}
    listen()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        forget()


def forget() -> None:
    """As if no signal had come: for processes that go on after one."""
    _stop.signal, _stop.pressed = None, False


def obey() -> None:
    """Raises `Interrupted` if the process was told to stop."""
    if _stop.signal is not None:
        raise Interrupted(signal.Signals(_stop.signal).name)
