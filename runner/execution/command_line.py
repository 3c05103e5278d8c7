"""What all commands share: exit statuses, errors of one sentence, and parsers.

Exit status: 0 for success, 1 when a run failed, 2 for a mistake in the command, 3 when other processes still
compute some of its runs, 75 when the process was told to stop and has saved its state, 130 when Ctrl-C came
before there was anything to save; 143 where SIGTERM came then, or to a command that computes no runs, and 129
where its terminal was closed; 141 when all is done, but whoever read standard output was gone.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, ParamSpec

import conf
from runner.execution import signals
from runner.execution.early_errors import stopped
from runner.execution.errors import UserError, listed, one_sentence, shortened
from runner.execution.memory.memory_errors import memory_error
from runner.execution.override_values import quoted
from runner.execution.storage_errors import storage_error
from runner.execution.streams.outputs import guard, status_with_output

HELP_WIDTH = 79
"""Columns of a help text."""

Arguments = ParamSpec("Arguments")

SEARCH_PATH = "hydra.searchpath="

DONE = "done, whatever the state of the runs"
OF_ALL = {
    1: "a file could not be read or written",
    2: "refused before any work, in one sentence",
    129: "the terminal was closed",
    130: "Ctrl-C",
    141: "done, but whoever read the output was gone",
    143: "SIGTERM",
}
"""What the exit statuses mean that every command may end with, besides 0."""

UNFORESEEN = "The command met something that no check had foreseen"
"""How the sentence begins about an error that is nobody's but ours."""


def reported(command: Callable[[], int]) -> int:
    """The exit status of `command`; an error that the user can correct is printed as one sentence."""
    guard()
    return status_with_output(_reported(command))


def _reported(command: Callable[[], int]) -> int:
    try:
        status = command()
        if signals.stop_wanted():  # it has said so itself
            signals.ignore()
        return status
    except UserError as error:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        print(f"error: {_visible(str(error))}", file=sys.stderr)
        return error.status
    except signals.Interrupted as signal:
        signals.ignore()
        print(stopped(str(signal), signal.then), file=sys.stderr)
        return signals.Interrupted.status
    except KeyboardInterrupt:  # before the signals are listened to, or where nothing is computed
        signals.ignore()
        print(stopped(), file=sys.stderr)
        return 130
    except SystemExit as error:
        if not error.code or os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise  # --help ends so
        sentence = f"Code that the command calls ended it by sys.exit({error.code!r})"
        print(f"error: {_visible(sentence)}; HYDRA_FULL_ERROR=1 shows where.", file=sys.stderr)
        return 2
    except Exception as error:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        if (refused := storage_error(error) or memory_error(error)) is not None:
            print(f"error: {_visible(str(refused))}", file=sys.stderr)
            return refused.status
        said = shortened(f"{type(error).__name__}: {one_sentence(error)}")
        sentence = f"{UNFORESEEN} ({said.rstrip('.')}); HYDRA_FULL_ERROR=1 shows where."
        print(f"error: {_visible(sentence)}", file=sys.stderr)
        return 2


def reporting(command: Callable[Arguments, int]) -> Callable[Arguments, int]:
    """`command`, whose errors are `reported`."""

    @functools.wraps(command)
    def run(*arguments: Arguments.args, **named: Arguments.kwargs) -> int:
        return reported(lambda: command(*arguments, **named))

    return run


def _visible(text: str) -> str:
    """`text` with its control characters written as ``\\x85``: what was given may break a line."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text
    )


def called(module: str) -> str:
    """How the command that is a module was called: ``rungwise table`` or ``python -m runner.table``."""
    by_name = Path(sys.argv[0]).name == "rungwise" and len(sys.argv) > 1
    return f"rungwise {sys.argv[1]}" if by_name else f"python -m {module}"


def exit_statuses(own: Mapping[int, str]) -> str:
    """The sentence of ``--help`` on exit statuses; `own` are those that mean something else in a command."""
    meanings = sorted(({0: DONE} | OF_ALL | dict(own)).items())
    said = "; ".join(f"{status}, {meaning}" for status, meaning in meanings)
    return textwrap.fill(f"Exit status: {said}.", HELP_WIDTH)


class OneSentenceParser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, and whose help ends with the exit statuses.

    Attributes:
        statuses: what exit statuses mean in this command, where that is not `OF_ALL`.
    """

    statuses: Mapping[int, str] = {}

    def format_help(self) -> str:
        return f"{super().format_help()}\n{exit_statuses(self.statuses)}\n"

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message[0].upper()}{message[1:]}; see --help.")


def own_folder(given: str | Path) -> Path:
    """The folder of ``--config-dir``.

    Raises:
        UserError: if it is not there, or its groups are one folder further down: nothing of them was found.
    """
    folder = Path(given)
    if not folder.is_dir():
        raise UserError(f"--config-dir must be a folder, '{given}' was given.")
    if not _groups_in(folder) and (inside := next(filter(_groups_in, _folders(folder)), None)):
        what = f"--config-dir must be the folder that has {listed(_groups_in(inside))} in it"
        raise UserError(f"{what}, '{given}' was given; did you mean '{inside}'?")
    return folder


def _groups_in(folder: Path) -> set[str]:
    """The groups of configurations in `folder` that the project has, too."""
    ours = {each.name for each in _folders(Path(conf.__path__[0]))}
    return {each.name for each in _folders(folder) if each.name in ours and any(each.glob("*.yaml"))}


def _folders(folder: Path) -> list[Path]:
    return sorted(each for each in folder.iterdir() if each.is_dir() and os.access(each, os.R_OK))


def with_config_dir(lines: Sequence[str], given: str | Path | None) -> list[str]:
    """The overrides `lines` with the folder of ``--config-dir`` as one more place on Hydra's search path.

    A sign before the search path, which Hydra would pass over then, is left out.

    Raises:
        UserError: as `own_folder`.
    """
    plain = [line.lstrip("+") for line in lines]
    pairs = zip(lines, plain, strict=True)
    lines = [bare if bare.startswith(SEARCH_PATH) else line for line, bare in pairs]
    if given is None:
        return lines
    folder = own_folder(given).absolute()
    paths = [line.removeprefix(SEARCH_PATH).strip("[]") for line in lines if line.startswith(SEARCH_PATH)]
    others = [line for line in lines if not line.startswith(SEARCH_PATH)]
    place = quoted(f"file://{folder}")
    return [f"{SEARCH_PATH}[{','.join([*filter(None, paths), place])}]", *others]


class ExperimentParser(OneSentenceParser):
    """The parser of the command `module`, described by the first sentence of its docstring.

    Where `any_runs`, the word ``runs`` may stand in place of an experiment.
    """

    def __init__(self, module: str, docstring: str | None, *, any_runs: bool = True) -> None:
        prog = called(module)
        usage = f"{prog} EXPERIMENT [key=value ...] [--config-dir DIR]"
        if any_runs:
            usage += f"\n       {prog} runs [key=value ...] [--config-dir DIR]"
        epilog = (
            "runs: any runs on disk; key=a,b chooses runs with one of these values." if any_runs else None
        )
        summary = (docstring or "").splitlines()[0]
        super().__init__(prog=prog, usage=usage, description=summary, epilog=epilog)
        self.add_argument("words", nargs="*", help=argparse.SUPPRESS)
        self.add_argument("--config-dir", metavar="DIR", help="a folder with your own configurations")

    def experiment(self, argv: Sequence[str] | None) -> tuple[str, list[str], argparse.Namespace]:
        """The experiment's name, the overrides with the user's folder among them, and all that was given.

        Raises:
            UserError: for an argument that is not known, no experiment, or a folder that is not there.
        """
        given = self.parse_intermixed_args(argv)
        if not given.words or "=" in given.words[0]:
            raise UserError(f"An experiment comes first: {self.prog} pt_table1 [key=value ...]; see --help.")
        name, *overrides = given.words
        # What a launcher is told changes no run, and a command with an experiment's name launches none.
        overrides = [line for line in overrides if not line.lstrip("+").startswith("hydra.launcher.")]
        return name, with_config_dir(overrides, given.config_dir), given
