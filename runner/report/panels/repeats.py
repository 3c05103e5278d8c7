"""Panel `repeats`: every seed's value of a metric, with what was published and where the target itself is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from runner.report.figures.metric_axis import metric_label
from runner.report.figures.panel import PanelData, PanelKind, name_rows, show_missing, write_in_row
from runner.report.figures.partial_means import mark_partial, write_beside
from runner.report.figures.published_marks import HALO, mark_published, published_values
from runner.report.figures.reference_lines import level
from runner.report.figures.style import FLOOR

SPREAD = 0.28
"""How far the points of a row lie off its line, in rows."""


def draw_repeats(ax: Axes, data: PanelData) -> None:
    """A point for each seed, mean and 95 % interval in black, a hollow marker where the paper's number is.

    A mean of only some runs has a half-filled marker. The panel's `floor`, where it has one, is a line: the
    value of the target itself. At an end of the panel's `limits` stands what lies beyond it.
    """
    for place, row in enumerate(data.rows):
        values = data.results.values(row.row, data.column, data.metric.metric)
        span = data.interval(row.row, data.column)
        if span is None:
            if data.finished:
                write_in_row(ax, place, data.why_empty(row.row))
            continue
        seeds = sorted(values)
        # The golden ratio spreads successive points evenly, the same from run to run.
        heights = place + SPREAD * (2 * np.modf(np.arange(len(seeds)) * 0.618034)[0] - 1)
        colour = data.styles[row.row].colour
        ax.scatter([values[seed] for seed in seeds], heights, s=5, color=colour, alpha=0.6, linewidths=0)
        off = [[part] for part in data.quantity.errors(span.mean, span.margin)]
        ax.errorbar(span.mean, place, xerr=off, color="black", marker="|", markersize=5, capsize=2)
        if note := data.partial(row.row, data.column):
            mark_partial(ax, data.styles[row.row], span.mean, place, note)
        elif alone := data.single(span.n):
            write_beside(ax, span.mean, place, alone)
        published = published_values(data, row.row, data.column)
        for version, value, size in published:
            mark_published(ax, data.styles[row.row], value, place, version, size)
        if data.panel.limits is not None:
            _name_outside(
                ax,
                data.panel.limits,
                place,
                [*values.values()],
                span.mean,
                [value for _, value, _ in published],
            )
    if not data.finished:
        show_missing(ax)
    if data.floor is not None:
        level(ax, data.floor, FLOOR, data.floor_label, vertical=True)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    name_rows(ax, data.rows)
    if data.panel.limits is not None:
        ax.set_xlim(*data.panel.limits)
    ax.set_xlabel(metric_label(data.metric, data.quantity, data.panel.x_label))


def _name_outside(
    ax: Axes, limits: Sequence[float], place: int, seeds: list[float], mean: float, published: list[float]
) -> None:
    """At each end of the axis how many seeds lie beyond it, and whether mean or published number do."""
    for end, other in (limits, limits[::-1]):
        sign = math.copysign(1.0, end - other)
        beyond = [sum(sign * (value - end) > 0 for value in values) for values in (seeds, [mean], published)]
        said = ", ".join(
            name for name, n in zip((f"{beyond[0]}", "mean", "published"), beyond, strict=True) if n
        )
        if said:
            left = end == limits[0]
            ax.annotate(
                f"◂ {said}" if left else f"{said} ▸",
                (0.01 if left else 0.99, place), xycoords=("axes fraction", "data"),
                ha="left" if left else "right", va="center", size=5.5, path_effects=[HALO], zorder=5,
            )  # fmt: skip


KINDS = {
    "repeats": PanelKind(
        draw_repeats, required=("metric",), optional=("floor", "limits", "x_label"), names_rows=True
    )
}
