"""Signals that come while a command is ending."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from runner.execution.early_errors import stopped

ROOT = Path(__file__).parents[3]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}

ENDING = """
import atexit, os, signal, sys
from runner.execution import signals
from runner.execution.command_line import reported

def stop(*numbers):
    for number in numbers:
        os.kill(os.getpid(), number)

def command():
    if "listening" in sys.argv:
        signals.listen()
    stop(signal.SIGINT)
    return 1 if "failed" in sys.argv else 0

atexit.register(stop, signal.SIGINT, signal.SIGTERM)
if "failed" in sys.argv:
    deferred = signals.deferred()  # as where the command counts what its workers did
    deferred.__enter__()
sys.exit(reported(command))
"""


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [("listening", 75, f"{stopped()}\n"), ("", 130, f"{stopped()}\n"), ("listening failed", 1, "")],
)
def test_a_second_signal_does_not_cut_the_end_short(words: str, status: int, said: str) -> None:
    command = [sys.executable, "-c", ENDING, *words.split()]
    ended = subprocess.run(
        command,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        # A background job inherits Ctrl-C ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (ended.returncode, ended.stderr) == (status, said)


HANGS_UP = """
import os, signal, sys
from runner.execution import signals
from runner.execution.command_line import reported

def command():
    signals.listen()
    os.kill(os.getpid(), signal.SIGHUP)
    signals.obey()
    return 0

sys.exit(reported(command))
"""


@pytest.mark.parametrize(("nohup", "status"), [(False, 75), (True, 0)])
def test_a_closed_terminal_is_obeyed_unless_nohup_ignores_it(nohup: bool, status: int) -> None:
    how = signal.SIG_IGN if nohup else signal.SIG_DFL
    ended = subprocess.run(
        [sys.executable, "-c", HANGS_UP],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: signal.signal(signal.SIGHUP, how),
    )
    assert ended.returncode == status
