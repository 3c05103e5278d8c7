"""What all commands share: exit statuses, and errors of one sentence.

Exit status: 0 for success, 1 when a run failed, 2 for a mistake in the command, 3 when other processes still
compute some of its runs, 75 when the process was told to stop and has saved its state, 130 when Ctrl-C came
before there was anything to save.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from runner.execution.early_errors import stopped
from runner.execution.errors import UserError, one_sentence, shortened
from runner.execution.signals import Interrupted

UNFORESEEN = "The command met something that no check had foreseen"
"""How the sentence begins about an error that is nobody's but ours."""


def reported(command: Callable[[], int]) -> int:
    """The exit status of `command`; an error that the user can correct is printed as one sentence."""
    try:
        return command()
    except UserError as error:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        print(f"error: {_visible(str(error))}", file=sys.stderr)
        return error.status
    except Interrupted as signal:
        print(stopped(str(signal)), file=sys.stderr)
        return Interrupted.status
    except KeyboardInterrupt:  # before the signals are listened to, or where nothing is computed
        print(stopped(), file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except Exception as error:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        said = shortened(f"{type(error).__name__}: {one_sentence(error)}")
        sentence = f"{UNFORESEEN} ({said.rstrip('.')}); HYDRA_FULL_ERROR=1 shows where."
        print(f"error: {_visible(sentence)}", file=sys.stderr)
        return 2


def _visible(text: str) -> str:
    """`text` with its control characters written as ``\\x85``: what was given may break a line."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text
    )


def called(module: str) -> str:
    """How the command that is a module was called: ``rungwise table`` or ``python -m runner.table``."""
    by_name = Path(sys.argv[0]).name == "rungwise" and len(sys.argv) > 1
    return f"rungwise {sys.argv[1]}" if by_name else f"python -m {module}"


class OneSentenceParser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message[0].upper()}{message[1:]}; see --help.")
