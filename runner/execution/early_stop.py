"""Ctrl-C while a command is still being imported: one sentence in place of a traceback.

Imports nothing that takes time, since `runner` calls it before anything else.
"""

from __future__ import annotations

import sys
from types import TracebackType


def stopped(by: str = "SIGINT") -> str:
    """What a command that was told to stop says."""
    return f"Stopped by {by}; repeat the command to continue."


def say_so_in_commands() -> None:
    """Sets `sys.excepthook` where Python runs a command of ours; the process then dies of SIGINT, status 130.

    While ``python -m`` imports the packages above a module, the first of ``sys.argv`` is ``-m``.
    """
    if sys.argv and (sys.argv[0] == "-m" or sys.argv[0].endswith("/rungwise")):
        sys.excepthook = _in_one_sentence


def _in_one_sentence(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print(stopped(), file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)
