"""Hydra's search path: a folder of configurations of the user's own, with the layout of ``conf/``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runner.execution.errors import UserError

KEY = "hydra.searchpath="


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
    paths = [line.removeprefix(KEY).strip("[]") for line in lines if line.startswith(KEY)]
    others = [line for line in lines if not line.startswith(KEY)]
    return [f"{KEY}[{','.join([*filter(None, paths), f'file://{folder}'])}]", *others]
