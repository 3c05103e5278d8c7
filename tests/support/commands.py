"""The command line inside this process: what it leaves behind, how it refuses, and what lies on disk."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner.execution.errors import UserError
from runner.sweep.jobs import jobs_of, requested
from runner.sweep.preflight import preflight


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    status: int
    out: str
    err: str


Call = Callable[..., Ended]
"""The fixture `call`: runs the command line."""


def refusal(*lines: str) -> str:
    """The one sentence with which the overrides of a command (`-m` among them) are refused before any work."""
    words = [word for line in lines for word in line.split()]
    with pytest.raises(UserError) as error:
        preflight(jobs_of(requested([word for word in words if word != "-m"], multirun="-m" in words)))
    said = str(error.value)
    assert error.value.status == 2
    assert "\n" not in said
    return said


def check_refused_values(lines: str, key: str, allowed: str, values: str) -> None:
    """Checks that under `lines` each of `values`, written as Python prints it, is refused for `key`."""
    for value in values.split():
        assert refusal(lines, f"{key}={value}") == f"{key} must be {allowed}, {value} was given."


def refused(call: Call, *lines: str) -> str:
    """The sentence with which a whole command is refused, having checked its form and that no file changed."""
    before = contents(Path())
    ended = call(*(word for line in lines for word in line.split()))
    assert ended.status == 2, ended
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1
    assert contents(Path()) == before
    return ended.err


def contents(folder: Path) -> dict[Path, bytes]:
    """All files in `folder`."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def results(folder: Path) -> dict[str, list[list[str]]]:
    """Rows of every run's metrics.csv, the column `seconds` taken out, by run id."""
    found = {}
    for path in sorted(folder.glob("outputs/runs/*/metrics.csv")):
        rows = list(csv.reader(path.read_text().splitlines()))
        seconds = rows[0].index("seconds")
        found[path.parent.name] = [row[:seconds] + row[seconds + 1 :] for row in rows]
    return found
