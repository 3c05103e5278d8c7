"""The figures of a selection of runs: intervals of every metric, and lines where a numeric setting varies."""

from __future__ import annotations

from collections.abc import Sequence

from runner.report.figure_shape import FigureShape, PanelShape
from runner.report.figures.labels.broken_lines import row_name
from runner.report.figures.metric_axis import spread_out
from runner.report.selection.grid import Grid, grid_of, is_number
from runner.report.selection.stored_runs import StoredRun
from runner.report.table_shape import Direction, MetricShape, first_named

METRICS = 4
"""Metrics that are drawn: the first ones."""

ACROSS = 4
"""Panels side by side at most."""

PANELS = 48
"""Panels of a figure at most."""

POINTS = 3
"""Values of a setting from which on it gets an axis."""

SHORT, LETTER, LINE = 20, 0.055, 0.12
"""Letters of a row's name that the usual width has room for; of a letter the width, of a line the height, in
inches.
"""


def judged_metrics(grid: Grid, sort: str | None = None) -> list[MetricShape]:
    """The metrics that figures are about: those with a better direction, and `sort`; or else all."""
    metrics = grid.shape.metrics
    judged = [each for each in metrics if each.direction is not Direction.none or each.metric == sort]
    return judged or metrics


def left_out(grid: Grid, sort: str | None = None) -> list[str]:
    """A sentence on what the figures do not show, if there is something."""
    judged, columns = judged_metrics(grid, sort), grid.shape.columns
    parts = [
        f"the first {shown} of {number} {what}"
        for shown, number, what in (
            (METRICS, len(judged), "metrics"),
            (_most_columns(judged), len(columns), "columns"),
        )
        if shown < number
    ]
    return [f"Figures show {' and '.join(parts)}; --sort METRIC makes a metric the first."] if parts else []


def _most_columns(judged: Sequence[MetricShape]) -> int:
    return PANELS // len(judged[:METRICS])


def add_intervals(grid: Grid, sort: str | None = None) -> None:
    """Adds to the table the figure of its intervals: for each metric a panel a column."""
    shape, judged = grid.shape, judged_metrics(grid, sort)
    across = min(len(shape.columns), ACROSS)
    panels = [
        PanelShape("intervals", column.label, [column.label], metric=metric.metric, log_x=False)
        for metric in judged[:METRICS]
        for column in shape.columns[: _most_columns(judged)]
    ]
    names = [row_name(row.row) for row in shape.rows]
    lines, longest = max(map(len, names)), max(len(line) for name in names for line in name)
    height = max(1.4, (0.25 + LINE * (lines - 1)) * len(shape.rows) + 0.8)
    width = max(4.5, 3.0 * across) + LETTER * max(0, longest - SHORT)
    shape.figures.append(FigureShape("intervals", panels, across, width, height, legend=[]))


def line_grid(runs: Sequence[StoredRun], grid: Grid, sort: str | None = None) -> Grid | None:
    """The same runs with their most finely varied numeric setting across, and the figure of lines over it.

    None where no numeric setting has `POINTS` values.
    """
    if (x := _across(runs, grid)) is None:
        return None
    lines = grid_of([run for run in runs if is_number(run.settings.get(x))], grid.shape.title, across=x)
    parts: dict[str, list[str]] = {}
    for column in lines.shape.columns:
        others = {key: value for key, value in lines.column_settings[column.label].items() if key != x}
        title = ", ".join(f"{key.rsplit('.', 1)[-1]}={value}" for key, value in others.items())
        parts.setdefault(title, []).append(column.label)
    places = [run.settings[x] for run in runs if is_number(run.settings.get(x))]
    spread = min(places) > 0 and max(places) >= 10 * min(places)
    judged = [metric for metric in judged_metrics(grid, sort) if metric in lines.shape.metrics]
    panels = [
        PanelShape(
            "against_columns",
            title,
            labels,
            metric=metric.metric,
            x=x,
            log_x=spread,
            log=spread_out(_means(lines, metric.metric, labels)),
        )
        for metric in judged[:METRICS]
        for title, labels in list(parts.items())[: _most_columns(judged)]
    ]
    across = min(len(parts), ACROSS)
    width = max(4.5, 3.0 * across)
    lines.shape.figures.append(FigureShape("lines", panels, across, width, share_y=False))
    return lines


def left_out_of_lines(runs: Sequence[StoredRun], grid: Grid) -> list[str]:
    """A sentence on the rows, or columns, of the table that have no place on the axis of the lines."""
    if (x := _across(runs, grid)) is None:
        return []
    placed = {run.folder.run_id for run in runs if is_number(run.settings.get(x))}
    drawn = [run for run in grid.results.runs if run.run_id in placed]
    rows, columns = ({getattr(run, part) for run in drawn} for part in ("row", "column"))
    for what, labels, found in (
        ("rows", [row.row for row in grid.shape.rows], rows),
        ("columns", [column.label for column in grid.shape.columns], columns),
    ):
        if missing := [label for label in labels if label not in found]:
            return [
                f"The figure lines leaves out {len(missing)} of {len(labels)} {what}, which have no number "
                f"for {x}: {first_named(missing)}."
            ]
    return []


def _across(runs: Sequence[StoredRun], grid: Grid) -> str | None:
    """The numeric setting with most values; None where none has `POINTS`."""
    values = {key: {run.settings.get(key) for run in runs} for key in grid.keys}
    numeric = {key: sum(map(is_number, found)) for key, found in values.items()}
    x = max(numeric, key=numeric.__getitem__, default=None)
    return None if x is None or numeric[x] < POINTS else x


def _means(grid: Grid, metric: str, columns: Sequence[str]) -> list[float]:
    """Of all rows in these columns."""
    found = (grid.results.interval(row.row, column, metric) for row in grid.shape.rows for column in columns)
    return [span.mean for span in found if span is not None]
