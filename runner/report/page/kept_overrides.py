"""The overrides that a table was rendered with, kept beside it: they say which runs its numbers are of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from runner.files.atomic_files import read_json, write_json

FILE, KEY = "overrides.json", "overrides"

PLACES = ("output_root=", "data.root=", "logger=", "logger.", "hydra")
"""How overrides begin that say where runs or data are, or are copied to, but not which they are."""

SCALE = ("scale=", "scale.name=")
"""How those begin that say the budget of the runs, and with it the folder of the table."""


def choosing(overrides: Iterable[str]) -> list[str]:
    """Those of `overrides` that say which runs of an experiment a table is of, its scale with them."""
    return [line for line in overrides if not line.lstrip("+").startswith(PLACES)]


def besides_scale(overrides: Iterable[str]) -> list[str]:
    """Those of `choosing` that do not say the scale, which the name of a record's folder has."""
    return [line for line in choosing(overrides) if not line.startswith(SCALE)]


def write_overrides(folder: Path, overrides: Sequence[str]) -> str:
    """Keeps those of `overrides` that choose runs beside the table in `folder`; the name of the file."""
    write_json(folder / FILE, {KEY: choosing(overrides)})
    return FILE


def kept_overrides(folder: Path) -> list[str] | None:
    """What is kept beside the table in `folder`; None where that is damaged, or of an earlier version."""
    return (read_json(folder / FILE) or {}).get(KEY)
