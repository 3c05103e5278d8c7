"""The table of a selection of runs on the terminal: a line for each variant, the first metrics that fit."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.execution.errors import unknown
from runner.report.analysis.table_entries import Entry, Summary
from runner.report.analysis.unequal_costs import unequal_costs
from runner.report.figure_shape import Role
from runner.report.numerals import numeral
from runner.report.page.legend import INEXACT, NOT_SIGNIFICANT, explanations, notes_on_runs
from runner.report.page.terminal import BEST, named_best
from runner.report.selection.grid import Grid
from runner.report.table_shape import Direction, MetricShape

SAMPLER = "sampler"
"""The setting beside whose values samplers that are not exact have a mark."""

NARROW = 80
"""Columns of a page that is not on a terminal."""

WIDE_ENOUGH = 10_000
"""Columns of a page that may be as wide as it is."""

ARROWS = {Direction.min: " ↓", Direction.max: " ↑", Direction.none: ""}


def show_grid(
    grid: Grid,
    summary: Summary,
    *,
    sort: str | None = None,
    everything: bool = False,
) -> None:
    """Prints the table of `grid` with as many metrics as the page has room for.

    Numbers that have no room beside their intervals stand above them; no digit is cut.

    Args:
        sort: a metric, which comes first, and by which the lines of a problem are sorted: the best first,
            samplers that are not exact after those that are.
        everything: prints all metrics, however wide the page.

    Raises:
        UserError: if `sort` is no metric of the runs.
    """
    metrics = _metrics(grid, sort, everything)
    console = Console(file=sys.stdout, highlight=False)
    if everything or not console.is_terminal:
        width = WIDE_ENOUGH if everything else NARROW
        console = Console(file=sys.stdout, highlight=False, width=width)
    best = "" if console.is_terminal else BEST
    number, stacked = len(metrics), False
    table = _table(grid, summary, metrics, sort, stacked, best)
    while console.measure(table, options=console.options.update(width=WIDE_ENOUGH)).maximum > console.width:
        number, stacked = (number - 1, True) if stacked else (number, True)
        if not number:
            break
        table = _table(grid, summary, metrics[:number], sort, stacked, best)
    console.print(table)
    names = {metric.metric for metric in metrics[: max(number, 1)]}
    shown = [entry for entry in summary if entry.metric in names]
    said = explanations(grid.shape, shown, marked=_names_samplers(grid))
    if text := named_best(" ".join([*_averaged(grid), *said]), best):
        console.print(Text(text, style="dim"))
    of_runs = notes_on_runs(grid.results.threads, grid.results.sources)
    costs = unequal_costs(grid.shape, grid.results)
    for note in (*_of_data(grid), *grid.shape.notes, *costs, *of_runs):
        console.print(Text(note, style="dim"))
    hidden = len(grid.shape.metrics) - max(number, 1)
    if hidden:
        more = (
            "1 more metric: --all shows it." if hidden == 1 else f"{hidden} more metrics: --all shows them."
        )
        console.print(Text(more, style="dim"))


def _keys(grid: Grid) -> list[str]:
    """The settings that have a column; of runs that differ in none, what they are of."""
    return grid.keys or ["target", "sampler"]


def _names_samplers(grid: Grid) -> bool:
    """Whether there is a column in which samplers that are not exact have a mark."""
    return SAMPLER in _keys(grid)


def _averaged(grid: Grid) -> list[str]:
    """What the numbers are means of; nothing where nothing is random."""
    if not grid.results.random:
        return []
    places = {(run.row, run.column) for run in grid.results.runs}
    seeds = sorted({len({run.seed for run in grid.results.at(*place)}) for place in places})
    if seeds == [1]:
        return ["One seed, without an interval or a test."]
    number = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    return [f"Mean ± half the 95 % interval, n = {number} seeds."]


def _of_data(grid: Grid) -> list[str]:
    """What must accompany numbers of their data, such as that it is a subset; once for all columns."""
    columns = [column.label for column in grid.shape.columns]
    noted: dict[str, list[str]] = {}
    for column in columns:
        for note in grid.results.notes(column):
            noted.setdefault(note, []).append(column)
    return [note if own == columns else f"{'; '.join(own)}: {note}" for note, own in noted.items()]


def _metrics(grid: Grid, sort: str | None, everything: bool) -> list[MetricShape]:
    """The metrics in the order in which they are shown; those without a direction only if asked for."""
    names = [metric.metric for metric in grid.shape.metrics]
    if sort is not None and sort not in names:
        raise unknown("metric", sort, names)
    judged = [metric for metric in grid.shape.metrics if metric.direction is not Direction.none]
    shown = grid.shape.metrics if everything or not judged else judged
    metrics = [metric for metric in grid.shape.metrics if metric in shown or metric.metric == sort]
    return sorted(metrics, key=lambda metric: metric.metric != sort)


def _table(
    grid: Grid,
    summary: Summary,
    metrics: Sequence[MetricShape],
    sort: str | None,
    stacked: bool,
    best: str,
) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    keys = _keys(grid)
    for title in _titles(keys):
        table.add_column(title, no_wrap=True)
    for metric in metrics:
        table.add_column(Text(f"{metric.name}{ARROWS[metric.direction]}"), justify="right", no_wrap=True)
    for place, column in enumerate(grid.shape.columns):
        if place and len(grid.shape.rows) > 1:
            table.add_section()
        for row in _rows(grid, summary, column.label, sort):
            named = {} if grid.keys else {"target": column.label, "sampler": row}
            settings = {**named, **grid.column_settings[column.label], **grid.row_settings[row]}
            claims = {summary.at(metric.metric, row, column.label).exact for metric in metrics}
            inexact = False in claims and grid.shape.row(row).role is not Role.draws
            names = [_setting(settings.get(key, ""), key, inexact) for key in keys]
            cells = [_cell(summary.at(metric.metric, row, column.label), stacked, best) for metric in metrics]
            table.add_row(*names, *cells)
    return table


def _titles(keys: Sequence[str]) -> list[str]:
    """The last word of each key, or the whole key where two have the same."""
    last = [key.rsplit(".", 1)[-1] for key in keys]
    return [word if last.count(word) == 1 else key for word, key in zip(last, keys, strict=True)]


def _setting(value: object, key: str, inexact: bool) -> Text:
    mark = INEXACT if inexact and key == SAMPLER else ""
    return Text(f"{value:g}{mark}" if isinstance(value, float) else f"{value}{mark}")


def _rows(grid: Grid, summary: Summary, column: str, sort: str | None) -> list[str]:
    """The rows that have a run in `column`, sorted; those without a value come last.

    Before them come those with a value of some of their seeds, which is compared with nothing, and before
    these the rows that no best is chosen from: samplers that are not exact, and rows for reference.
    """
    present = [row.row for row in grid.shape.rows if grid.results.at(row.row, column)]
    if sort is None:
        return present
    direction = grid.shape.metric(sort).direction
    sign = -1.0 if direction is Direction.max else 1.0

    def place(row: str) -> tuple[int, float]:
        entry = summary.at(sort, row, column)
        if entry.interval is None:
            return 3, 0.0
        ranked = direction is Direction.none or (entry.exact and grid.shape.row(row).role is Role.sampler)
        return 2 if entry.without_value else 0 if ranked else 1, sign * entry.interval.mean

    return sorted(present, key=place)


def _cell(entry: Entry, stacked: bool, best: str) -> Text:
    seeds = "" if entry.seeds is None else f" (n={entry.seeds})"
    if entry.interval is None:
        return Text(f"-{seeds}")
    written = numeral(entry.interval.mean, entry.interval.margin)
    mark = best if entry.best else NOT_SIGNIFICANT if entry.not_significant else ""
    between = "\n" if stacked else " "
    margin = "" if written.margin is None else f"{between}± {written.margin}"
    return Text(f"{written.mean}{margin}{mark}{seeds}", style="bold green" if entry.best else "")
