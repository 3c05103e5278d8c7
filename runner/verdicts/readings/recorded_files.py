"""The files of a record that a reading takes its numbers from: those of a table, or bench.csv."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import cast

import pandas as pd

from runner.execution.errors import UserError, one_sentence
from runner.files.atomic_files import read_json
from runner.files.plain_yaml import plain_yaml
from runner.report.page.table_files import COMPARISONS, GROWTHS
from runner.report.recorded.seed_values import PLACE, SEEDS, read_labelled, read_seed_values
from runner.store.folder_digests import DIGESTS, FILES, TABLE
from runner.verdicts.cells import CONF
from runner.verdicts.readings.recorded_numbers import (
    MEAN,
    OF_COMPARISON,
    OF_GROWTH,
    PLAIN,
    Place,
    RecordedNumbers,
)

BENCH = "bench.csv"
OF_BENCH = ("value", "wanted")
"""Columns of bench.csv that hold numbers."""

IN_BENCH = re.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")


def is_bench(folder: Path) -> bool:
    """Whether the record in `folder` is a bench and no table."""
    return (folder / BENCH).is_file() and not (folder / TABLE).is_file()


def read_table(folder: Path) -> RecordedNumbers:
    """The numbers of the table in `folder`.

    Raises:
        UserError: if the table is not there or has another schema.
    """
    frame = _frame(folder, TABLE, "table", PLACE, (MEAN, *PLAIN))
    with _schema(folder, TABLE):
        lines = cast(dict[Place, dict[str, object]], frame.set_index(PLACE).to_dict("index"))
    with _schema(folder, SEEDS):
        seeds = read_seed_values(folder / SEEDS)
    with _schema(folder, COMPARISONS):
        compared = _read_comparisons(_recorded(folder, COMPARISONS))
    with _schema(folder, GROWTHS):
        growths = _read_growths(_recorded(folder, GROWTHS))
    published = tuple(name for name in frame.columns if name.startswith("published_"))
    return RecordedNumbers(lines, seeds, compared, growths, published, _units(folder))


def read_bench(folder: Path) -> RecordedNumbers:
    """The numbers of the bench in `folder`, by what is measured, column, and place in the column's text.

    In ``13.04 times (5.34 against 0.41 ms)`` 5.34 is number ``2``. Lines that share a name have none.

    Raises:
        UserError: if the bench is not there or has another schema.
    """
    frame = _frame(folder, BENCH, "bench", ["measured", *OF_BENCH])
    lines = {
        (line["measured"], column, str(place)): {MEAN: found.replace(",", "")}
        for line in frame.drop_duplicates("measured", keep=False).dropna(subset="measured").to_dict("records")
        for column in OF_BENCH
        for place, found in enumerate(IN_BENCH.findall(str(line[column])), start=1)
    }
    with _schema(folder, BENCH):
        if not lines:
            raise ValueError("without a number")
    return RecordedNumbers(lines)


def _frame(
    folder: Path, name: str, kind: str, labels: Sequence[str], others: Sequence[str] = ()
) -> pd.DataFrame:
    """The file `name` of a recorded `kind`, which has these columns, of which `labels` are text."""
    if not (folder / name).is_file():
        raise UserError(f"there is no recorded {kind} {folder.name}.")
    with _schema(folder, name):
        frame = read_labelled(folder / name, labels)
        if lacks := [column for column in (*labels, *others) if column not in frame.columns]:
            raise ValueError(f"without {', '.join(lacks)}")
    return frame


@contextmanager
def _schema(folder: Path, name: str) -> Iterator[None]:
    """Says of the file `name` that it is of another schema, where what is in it cannot be read."""
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{name} of {folder.name} is of another schema ({one_sentence(error)}).") from error


def _recorded(folder: Path, name: str) -> Path | None:
    """A file that not each record has; one that the record's digests do not list is not of it."""
    digests = read_json(folder / DIGESTS)
    listed = digests is None or name in digests[FILES]
    return folder / name if listed and (folder / name).exists() else None


def _read_comparisons(path: Path | None) -> dict[tuple[str, ...], dict[str, float]]:
    """What comparisons.csv has of two rows, in either order, by their column and metric."""
    if path is None:
        return {}
    lines = read_labelled(path, [*PLACE, "against"]).to_dict("records")
    return {
        (*rows, line["cell"], line["metric"]): {what: line[what] for what in OF_COMPARISON}
        for line in lines
        for rows in permutations((line["row"], line["against"]))
    }


def _read_growths(path: Path | None) -> dict[Place, dict[str, float]]:
    """What growths.csv has of each row, form and metric."""
    if path is None:
        return {}
    lines = read_labelled(path, PLACE).set_index(PLACE)[[MEAN, "lo", "hi", "n", *OF_GROWTH]].astype(float)
    return cast(dict[Place, dict[str, float]], lines.to_dict("index"))


def _units(folder: Path) -> dict[str, float]:
    """The unit of each metric that the table shows in another than its own.

    Tables that were recorded before the manifest had them are of experiments in conf/.
    """
    manifest = read_json(folder / "manifest.json") or {}
    if "units" in manifest:
        return {str(metric): float(unit) for metric, unit in manifest["units"].items()}
    path = CONF / "experiment" / f"{folder.name.rpartition('_')[0]}.yaml"
    shape = (plain_yaml(path.read_bytes()) or {}).get("table") or {} if path.is_file() else {}
    return {metric["metric"]: float(metric.get("scale", 1.0)) for metric in shape.get("metrics", [])}
