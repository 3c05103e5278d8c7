"""The files of a record that a reading takes its numbers from: those of a table, or bench.csv."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path
from typing import cast

from runner.execution.errors import UserError, one_sentence
from runner.files.atomic_files import read_json
from runner.files.plain_yaml import plain_yaml
from runner.report.page.table_files import COMPARISONS, GROWTHS
from runner.report.recorded.seed_values import PLACE, SEEDS, read_labelled, read_seed_values
from runner.store.folder_digests import DIGESTS, FILES
from runner.verdicts.cells import CONF
from runner.verdicts.readings.recorded_numbers import (
    MEAN,
    OF_COMPARISON,
    OF_GROWTH,
    PLAIN,
    Place,
    RecordedNumbers,
)

TABLE = "table.csv"
BENCH = "bench.csv"
OF_BENCH = ("value", "wanted")
"""Columns of bench.csv that hold numbers."""

IN_BENCH = re.compile(r"[-+]?\d+(?:,\d{3})*(?:\.\d+)?")


def read_table(folder: Path) -> RecordedNumbers:
    """The numbers of the table in `folder`.

    Raises:
        UserError: if the table is not there or has another schema.
    """
    if not (folder / TABLE).is_file():
        raise UserError(f"there is no recorded table {folder.name}.")
    name = TABLE
    try:
        frame = read_labelled(folder / TABLE)
        if lacks := [column for column in (*PLACE, MEAN, *PLAIN) if column not in frame.columns]:
            raise ValueError(f"without {', '.join(lacks)}")
        lines = frame.set_index(PLACE).to_dict("index")
        seeds = read_seed_values(folder / (name := SEEDS))
        compared = _read_comparisons(_recorded(folder, name := COMPARISONS))
        growths = _read_growths(_recorded(folder, name := GROWTHS))
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{name} of {folder.name} is of another schema ({one_sentence(error)}).") from error
    published = tuple(name for name in frame.columns if name.startswith("published_"))
    placed = cast(dict[Place, dict[str, object]], lines)
    return RecordedNumbers(placed, seeds, compared, growths, published, _units(folder))


def read_bench(folder: Path) -> RecordedNumbers:
    """The numbers of the bench in `folder`, by what is measured, column, and place in the column's text.

    In ``13.04 times (5.34 against 0.41 ms)`` 5.34 is number ``2``.

    Raises:
        UserError: if the bench is not there or has another schema.
    """
    if not (folder / BENCH).is_file():
        raise UserError(f"there is no recorded bench {folder.name}.")
    frame = read_labelled(folder / BENCH, ["measured", *OF_BENCH])
    if lacks := [name for name in ("measured", *OF_BENCH) if name not in frame.columns]:
        raise UserError(f"{BENCH} of {folder.name} is of another schema (without {', '.join(lacks)}).")
    return RecordedNumbers(
        {
            (line["measured"], column, str(place)): {MEAN: found.replace(",", "")}
            for line in frame.to_dict("records")
            for column in OF_BENCH
            for place, found in enumerate(IN_BENCH.findall(str(line[column])), start=1)
        }
    )


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
