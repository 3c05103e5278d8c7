"""Renders a recorded table anew by the rules of today, from what its record keeps: the runs may be gone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

from runner.execution.errors import UserError
from runner.files.atomic_files import read_json, write_text
from runner.report.analysis.growth import fits, name_of
from runner.report.analysis.table_entries import summarise
from runner.report.draw_figures import write_figures
from runner.report.figure_shape import FigureShape
from runner.report.page.layout import lay_out
from runner.report.page.table_files import COMPARISONS, GROWTHS, write_table
from runner.report.published import published_numbers
from runner.report.recorded.agreement import check_agreement
from runner.report.recorded.record import RECORDED, shareable
from runner.report.recorded.recorded_results import RecordedResults, recorded_results
from runner.report.recorded.replaced import replaced, restored
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape
from runner.store.folder_digests import DIGESTS, FILES, TABLE, damaged_files, write_digests

NUMBERS_ALONE = ("intervals", "against_columns")
"""Kinds of panels that need the table's numbers and no runs."""


def checked_digests(folder: Path) -> dict[str, Any]:
    """The digests of the recorded table in `folder`, which is as it was written.

    Raises:
        UserError: if there is no such record, or it is damaged.
    """
    restored(folder)
    if damaged := damaged_files(folder):
        raise UserError(f"The record {folder} is not as it was written: {', '.join(damaged)}.")
    digests: dict[str, Any] | None = read_json(folder / DIGESTS)
    if digests is None and (folder / TABLE).exists():
        raise UserError(
            f"The record {folder} has no {DIGESTS}, as those of 0.1.0, so that nobody can tell whether its "
            "numbers were edited: --record writes it anew where its runs are done."
        )
    if digests is None or TABLE not in digests[FILES]:
        raise UserError(f"There is no recorded table in {folder}.")
    return digests


def redraw(shape: TableShape, results: Results, folder: Path, command: str = "") -> list[Path]:
    """Writes the files of the recorded table in `folder` that what it keeps suffices for.

    These are the figures that show its numbers alone; and table.csv, comparisons.csv, growths.csv, table.md
    and table.tex where it has the values of each seed and what the page says of its runs. Means and intervals
    stay as they are.

    Args:
        shape: the table of the experiment, with all that it has today.
        results: the experiment's runs, done or not: their configurations say what the columns are.
        command: what a reader runs for the missing runs.

    Returns:
        The files written; other figures are left as they are.

    Raises:
        UserError: as of `checked_digests`, and if the record contradicts itself, or the experiment no longer
            has one of its rows, columns or metrics.
    """
    digests = checked_digests(folder)
    recorded = recorded_results(results, folder)
    names: list[str] = []
    whole = recorded.seed_values and recorded.said is not None
    if whole:
        check_agreement(shape, recorded, str(folder))
    # Written elsewhere: what is cut short leaves the record as it is.
    with TemporaryDirectory() as elsewhere:
        written = write_figures(_drawn(shape, recorded, folder), recorded, Path(elsewhere))
        if whole:
            names = _write_page(_kept(shape, recorded), recorded, Path(elsewhere), command)
            written = [*written, *(Path(elsewhere) / name for name in names)]
        with replaced(folder) as new:
            for path in written:
                copyfile(path, new / path.name)
            held = dict.fromkeys([*digests[FILES], *(path.name for path in written)])
            for name in {COMPARISONS, GROWTHS}.difference(names) if whole else ():
                held.pop(name, None)
                (new / name).unlink(missing_ok=True)
            write_digests(new, held, digests[FILES])
    return [folder / path.name for path in written]


def _drawn(shape: TableShape, recorded: RecordedResults, folder: Path) -> TableShape:
    """The table with the figures alone that the record has and its numbers suffice for."""
    unlisted = {column.label for column in shape.columns if not column.table}
    figures = [
        each
        for each in shape.figures
        if from_numbers(each, unlisted) and (folder / f"{each.name}.png").exists()
    ]
    held = set(recorded.frame["cell"]), set(recorded.frame["row"])
    return replace(shape, figures=figures).restricted(*held)


def from_numbers(figure: FigureShape, unlisted: set[str]) -> bool:
    """Whether the table has all numbers of `figure`; not those of columns that are `unlisted`."""
    return all(panel.kind in NUMBERS_ALONE and unlisted.isdisjoint(panel.columns) for panel in figure.panels)


def _kept(shape: TableShape, recorded: RecordedResults) -> TableShape:
    """The table with the rows, columns and metrics alone that the record has, and what it says of them."""
    metrics = set(recorded.frame["metric"])
    unlisted = {column.label for column in shape.columns if not column.table}
    kept = shape.restricted(
        set(recorded.frame["cell"]) | unlisted.intersection(recorded.columns), set(recorded.frame["row"])
    )
    return replace(
        kept,
        metrics=[metric for metric in kept.metrics if metric.metric in metrics],
        comparisons=[pair for pair in kept.comparisons if pair.metric in metrics],
        growths=[
            replace(growth, rows=[row])
            for growth, row in fits(kept)
            if growth.metric in metrics and (growth.along is None or name_of(growth, row) in recorded.growths)
        ],
    )


def _write_page(shape: TableShape, recorded: RecordedResults, folder: Path, command: str) -> list[str]:
    """Writes the table's files into `folder`; the names of those that a record has."""
    summary = summarise(shape, recorded, published_numbers(shape))
    assert recorded.said is not None
    page = lay_out(shape, summary, recorded, recorded.said.budget, command)
    names = write_table(folder, summary.records(shape), page)
    text = folder / "table.md"
    write_text(text, shareable(text.read_text(encoding="utf-8")))
    return [name for name in names if Path(name).suffix in RECORDED]
