"""What goes wrong while a command is still being imported: one sentence in place of a traceback.

Imports nothing that takes time, since `runner` calls it before anything else.
"""

from __future__ import annotations

import sys
from types import TracebackType

NEEDS_OWN = "rungwise needs its own package"
"""How the sentence begins about somebody else's package under the name of one of ours."""


REPEAT = "repeat the command to continue"
"""What helps after most stops."""


def stopped(by: str = "SIGINT", then: str = REPEAT) -> str:
    """What a command that was told to stop says: by which signal, and what to do then."""
    return f"Stopped by {by}; {then}."


def say_so_in_commands() -> None:
    """Sets `sys.excepthook` where Python runs a command of ours; Ctrl-C then ends it with status 130.

    While ``python -m`` imports the packages above a module, the first of ``sys.argv`` is ``-m``.
    """
    if sys.argv and (sys.argv[0] == "-m" or sys.argv[0].endswith("/rungwise")):
        sys.excepthook = _in_one_sentence


def _in_one_sentence(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print(stopped(), file=sys.stderr)
    elif issubclass(kind, ImportError) and str(error).startswith(NEEDS_OWN):
        print(f"error: {error}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)
