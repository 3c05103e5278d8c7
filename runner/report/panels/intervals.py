"""Panel `intervals`: each row's mean and 95 % interval, published values hollow, reference draws as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from runner.report.figure_shape import Role
from runner.report.figures.labels.tick_labels import label_ticks
from runner.report.figures.metric_axis import metric_label
from runner.report.figures.panel import (
    PanelData,
    PanelKind,
    name_left_out,
    name_rows,
    show_missing,
    write_in_row,
)
from runner.report.figures.partial_means import mark_partial, write_beside
from runner.report.figures.published_marks import mark_published, published_values
from runner.report.figures.reference_lines import level
from runner.report.figures.style import RC

CAP = 5.0
"""Height of the end of an interval, in points."""


def draw_intervals(ax: Axes, data: PanelData) -> None:
    """Draws the panel's one column; rows without runs keep their empty line.

    A logarithmic axis that the panel asks for has no place for means of 0 or less, which is said instead.
    """
    listed = [row for row in data.rows if row.role is not Role.draws]
    if not listed:
        show_missing(ax, data.runs, "row of a sampler")
        return
    spans = {row.row: data.interval(row.row, data.column) for row in data.rows}
    printed = {row.row: published_values(data, row.row, data.column) for row in listed}
    log = _logarithmic(data, [span.mean for span in spans.values() if span is not None], printed)
    drawn = {row: span for row, span in spans.items() if span is not None and (span.mean > 0 or not log)}
    bars: list[tuple[int, float, float, str]] = []
    quantity = data.quantity
    for place, row in enumerate(listed):
        style = data.styles[row.row]
        if (span := drawn.get(row.row)) is None:
            if data.finished:
                empty = spans[row.row] is None
                write_in_row(ax, place, data.why_empty(row.row) if empty else "mean of 0 or less")
        else:
            down, up = quantity.errors(span.mean, span.margin)
            bars.append((place, span.mean - down, span.mean + up, style.colour))
            if note := data.partial(row.row, data.column):
                mark_partial(ax, style, span.mean, place, note)
            else:
                ax.plot(span.mean, place, style.marker, color=style.colour, markersize=4, zorder=3)
                if alone := data.single(span.n):
                    write_beside(ax, span.mean, place, alone)
        for version, value, size in printed[row.row]:
            if value > 0 or not log:
                mark_published(ax, style, value, place, version, size)
    _draw_bars(ax, bars)
    for row in data.rows:
        if row.role is Role.draws and row.row in drawn:
            level(ax, drawn[row.row].mean, data.styles[row.row], row.row, vertical=True)
    if not data.finished:
        show_missing(ax)
    name_rows(ax, listed)
    ax.set_xlabel(metric_label(data.metric, data.quantity, data.panel.x_label))
    if log:
        draws = (row.row for row in data.rows if row.role is Role.draws and spans[row.row] is not None)
        low = (f"{row}, published" for row, found in printed.items() if any(each[1] <= 0 for each in found))
        name_left_out(ax, (*(row for row in draws if row not in drawn), *low))
    samplers = sum(row.role is Role.sampler for row in listed)
    if 0 < samplers < len(listed):
        ax.axhline(samplers - 0.5, color="black", linewidth=0.6)
    if log:
        ax.set_xscale("log", nonpositive="clip")
        label_ticks(ax)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(4))


def _draw_bars(ax: Axes, bars: Sequence[tuple[int, float, float, str]]) -> None:
    """The intervals of all rows, each with its place, ends and colour, in two objects.

    `errorbar` makes four of each, and a table of many panels would take a tenth longer to draw.
    """
    if bars:
        places, low, high, colours = (list(part) for part in zip(*bars, strict=True))
        ax.hlines(places, low, high, colours, linewidth=RC["lines.linewidth"], zorder=3)
        ax.scatter(low + high, 2 * places, CAP**2, 2 * colours, marker="|", linewidth=1.0, zorder=3)


def _logarithmic(
    data: PanelData, means: Sequence[float], printed: Mapping[str, Sequence[tuple[str, float, float]]]
) -> bool:
    """Whether the axis is logarithmic: as the panel says, or else where it holds all values."""
    if data.panel.log_x is not None:
        return data.panel.log_x
    return all(value > 0 for value in (*means, *(each[1] for found in printed.values() for each in found)))


KINDS = {
    "intervals": PanelKind(
        draw_intervals,
        required=("metric",),
        optional=("log_x", "x_label"),
        names_rows=True,
        has_intervals=True,
    )
}
