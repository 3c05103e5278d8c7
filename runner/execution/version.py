"""The version of this project, which `pyproject.toml` alone states."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

NAME = "rungwise"


def _version() -> str:
    """That of the checkout that this file is in, or else of the installed distribution."""
    beside = Path(__file__).parents[2] / "pyproject.toml"
    if beside.is_file():
        project = tomllib.loads(beside.read_text()).get("project", {})
        if project.get("name") == NAME:
            return str(project["version"])
    return version(NAME)


__version__ = _version()
