"""Draws figures of a recorded table anew, from its numbers: their look changes, the runs may be gone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from metrics.inference.few_seeds import Interval
from runner.execution.errors import UserError
from runner.files.atomic_files import read_json
from runner.report.analysis.table_entries import interval_of
from runner.report.draw_figures import write_figures
from runner.report.figure_shape import FigureShape
from runner.report.recorded.seed_values import read_labelled
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape
from runner.store.folder_digests import DIGESTS, FILES, damaged_files, write_digests

NUMBERS_ALONE = ("intervals", "against_columns")
"""Kinds of panels that need the table's numbers and no runs."""


@dataclass(frozen=True)
class RecordedResults(Results):
    """Runs that are not there, with the intervals of their table.

    Attributes:
        frame: the table, as `runner.report.analysis.table_entries.Summary.frame` gave it.
    """

    frame: pd.DataFrame = field(default_factory=pd.DataFrame)

    def interval(self, row: str, column: str, metric: str) -> Interval | None:
        """Mean and interval of `metric` that the table has."""
        line = self._line(row, column, metric)
        return interval_of(line) if line else None

    def coverage(self, row: str, column: str, metric: str) -> tuple[int, int]:
        """Of how many seeds that mean is, and of how many that ended; older tables count no failed ones."""
        line = self._line(row, column, metric)
        if not line:
            return 0, 0
        found = int(line["n"])
        lost = line.get("without_value", line["runs"] - line["n"])
        return found, found + max(int(lost), 0)

    def _line(self, row: str, column: str, metric: str) -> dict[str, Any]:
        """The line of the table with that mean; empty where it has none."""
        at = self.frame[["row", "cell", "metric"]].eq([row, column, metric]).all(axis="columns")
        found = self.frame[at & self.frame["mean"].notna()]
        return {} if found.empty else {str(key): value for key, value in found.iloc[0].items()}


def redraw(shape: TableShape, results: Results, folder: Path) -> list[Path]:
    """Writes the figures of the recorded table in `folder` that its numbers suffice for.

    Args:
        results: the experiment's runs, done or not: their configurations say what the columns are.

    Returns:
        The files written; figures that show anything else of the runs are left as they are.

    Raises:
        UserError: if there is no such record, or it is damaged.
    """
    if damaged := damaged_files(folder):
        raise UserError(f"The record {folder} is not as it was written: {', '.join(damaged)}.")
    digests = read_json(folder / DIGESTS)
    if digests is None or "table.csv" not in digests[FILES]:
        raise UserError(f"There is no recorded table with {DIGESTS} in {folder}.")
    frame = read_labelled(folder / "table.csv")
    unlisted = {column.label for column in shape.columns if not column.table}
    redrawn = [
        each
        for each in shape.figures
        if _from_numbers(each, unlisted) and (folder / f"{each.name}.png").exists()
    ]
    shape = replace(shape, figures=redrawn).restricted(set(frame["cell"]), set(frame["row"]))
    recorded = RecordedResults(results.runs, results.random_runs, frame)
    # Drawn elsewhere: what is cut short leaves the record as it is.
    with TemporaryDirectory() as elsewhere:
        drawn = write_figures(shape, recorded, Path(elsewhere))
        (folder / DIGESTS).unlink()
        written = [Path(copyfile(path, folder / path.name)) for path in drawn]
    write_digests(folder, dict.fromkeys([*digests[FILES], *(path.name for path in written)]))
    return written


def _from_numbers(figure: FigureShape, unlisted: set[str]) -> bool:
    """Whether the table has all numbers of `figure`; not those of columns that are `unlisted`."""
    return all(panel.kind in NUMBERS_ALONE and unlisted.isdisjoint(panel.columns) for panel in figure.panels)
