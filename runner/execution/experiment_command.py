"""The commands about an experiment: ``python -m COMMAND pt_table1 [key=value ...] [--config-dir DIR]``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from runner.execution.command_line import OneSentenceParser, called
from runner.execution.errors import UserError

SEARCH_PATH = "hydra.searchpath="


def with_config_dir(lines: Sequence[str], given: str | None) -> list[str]:
    """The overrides `lines` with the folder of ``--config-dir`` as one more place on Hydra's search path.

    Raises:
        UserError: if the folder is not there.
    """
    if given is None:
        return list(lines)
    folder = Path(given).absolute()
    if not folder.is_dir():
        raise UserError(f"--config-dir must be a folder, '{given}' was given.")
    paths = [line.removeprefix(SEARCH_PATH).strip("[]") for line in lines if line.startswith(SEARCH_PATH)]
    others = [line for line in lines if not line.startswith(SEARCH_PATH)]
    return [f"{SEARCH_PATH}[{','.join([*filter(None, paths), f'file://{folder}'])}]", *others]


class ExperimentParser(OneSentenceParser):
    """The parser of the command `module`, described by the first sentence of its docstring."""

    def __init__(self, module: str, docstring: str | None) -> None:
        usage = f"{called(module)} EXPERIMENT [key=value ...] [--config-dir DIR]"
        super().__init__(prog=called(module), usage=usage, description=(docstring or "").splitlines()[0])
        self.add_argument("words", nargs="*", help=argparse.SUPPRESS)
        self.add_argument("--config-dir", metavar="DIR", help="a folder of configurations of your own")

    def experiment(self, argv: Sequence[str] | None) -> tuple[str, list[str], argparse.Namespace]:
        """The experiment's name, the overrides with the user's folder among them, and all that was given.

        Raises:
            UserError: for an argument that is not known, no experiment, or a folder that is not there.
        """
        given = self.parse_intermixed_args(argv)
        if not given.words or "=" in given.words[0]:
            raise UserError(f"An experiment comes first: {self.prog} pt_table1 [key=value ...]; see --help.")
        name, *overrides = given.words
        return name, with_config_dir(overrides, given.config_dir), given
