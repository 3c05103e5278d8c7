"""The overrides that a table was rendered with, kept beside it: they say which runs its numbers are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from runner.config.experiments.override_meaning import read
from runner.execution.override_values import key_of
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


def differing(then: Iterable[str], now: Iterable[str]) -> Iterator[str]:
    """How the overrides of a record and those of a table that is to go there differ, in words."""
    before, after = ({key_of(line): line for line in lines} for lines in (then, now))
    for key in dict.fromkeys([*before, *after]):
        if key not in after:
            yield f"it has {before[key]}, which this table lacks"
        elif key not in before:
            yield f"this table has {after[key]}, which it lacks"
        elif read(before[key])[1] != read(after[key])[1]:
            yield f"it has {before[key]}, and this table {after[key]}"


def write_overrides(folder: Path, overrides: Sequence[str]) -> str:
    """Keeps those of `overrides` that choose runs beside the table in `folder`; the name of the file."""
    write_json(folder / FILE, {KEY: choosing(overrides)})
    return FILE


def kept_overrides(folder: Path) -> list[str] | None:
    """What is kept beside the table in `folder`; None where that is damaged, or of an earlier version."""
    return (read_json(folder / FILE) or {}).get(KEY)
