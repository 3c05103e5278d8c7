"""A worker whose command was killed: the job under way is saved, and the worker ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from runner.execution.signals import Interrupted
from runner.sweep.launchers.forwarding import forwarded

PARENT = "RUNGWISE_COMMAND"
"""The environment variable that tells workers the process id of the command that starts them."""

SECONDS = 1.0
"""Time between two looks at whose child this process is."""

_busy = threading.Lock()
_watching: list[threading.Thread] = []


@contextmanager
def adopted() -> Iterator[None]:
    """Within it the processes that this one starts are its workers: they get its signals and end with it."""
    os.environ[PARENT] = str(os.getpid())
    try:
        with forwarded():
            yield
    finally:
        del os.environ[PARENT]


@contextmanager
def at_work() -> Iterator[None]:
    """Within it this worker computes a job. One that no command has `adopted` goes on without one."""
    command = os.environ.get(PARENT)
    if command and not _watching:
        _watching.append(threading.Thread(target=_watch, args=(int(command),), daemon=True))
        _watching[0].start()
    with _busy:
        yield


def _watch(command: int) -> None:
    """Ends this process once it is no child of `command`, a job under way as SIGTERM would."""
    while os.getppid() == command:
        time.sleep(SECONDS)
    if not _busy.acquire(blocking=False):
        os.kill(os.getpid(), signal.SIGTERM)
        _busy.acquire()
    os._exit(Interrupted.status)
