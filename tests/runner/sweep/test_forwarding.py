"""Signals that a command passes on to its workers, before and after they have started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from runner.execution import signals
from runner.sweep.launchers import forwarding


def test_ctrl_c_is_passed_on_as_what_lets_a_worker_save(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker has had the SIGINT of the terminal already; a second one would not wait for its block."""
    passed: list[tuple[int, int]] = []
    signals.listen()
    monkeypatch.setattr(forwarding, "children", lambda: [7])
    with forwarding.forwarded(), monkeypatch.context() as patched:
        stop = os.kill
        patched.setattr(os, "kill", lambda process, number: passed.append((process, number)))
        stop(os.getpid(), signal.SIGINT)
        stop(os.getpid(), signal.SIGUSR1)
    assert passed == [(7, signal.SIGTERM), (7, signal.SIGUSR1)]
    ended: list[int] = []
    monkeypatch.setattr(signals, "SAVING_SECONDS", 0.0)
    monkeypatch.setattr(os, "_exit", ended.append)
    signals.leave_worker()
    assert ended == [75]
    signals.forget()
    signals.leave_worker()
    assert ended == [75], "no job is lost where nobody pressed Ctrl-C"


def test_a_worker_that_starts_after_the_signal_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool takes a moment to start its first worker, and has other children before."""
    signals.listen()
    monkeypatch.setattr(forwarding, "LOOK_SECONDS", 0.01)
    with forwarding.forwarded():
        os.kill(os.getpid(), signal.SIGINT)
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as worker:
            try:
                assert worker.wait(10) == -signal.SIGTERM
            finally:
                worker.kill()


def test_another_program_gets_no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    """W&B's service ended with the workers, and then the command with a traceback of its client."""
    signals.listen()
    monkeypatch.setattr(forwarding, "LOOK_SECONDS", 0.01)
    with subprocess.Popen(["sleep", "60"]) as service, forwarding.forwarded():
        try:
            os.kill(os.getpid(), signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                service.wait(0.5)
        finally:
            service.kill()
