"""Panel `repeats`: every seed's value of a metric, with what was published and where the target itself is."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from runner.report.figure_shape import Role
from runner.report.figures.panel import PanelData, PanelKind, name_rows, show_missing
from runner.report.figures.style import FLOOR
from runner.report.published import published_numbers

SPREAD = 0.28
"""How far the points of a row lie off its line, in rows."""


def draw_repeats(ax: Axes, data: PanelData) -> None:
    """A point for each seed, mean and 95 % interval in black, a diamond where the paper's number is.

    The panel's `floor`, where it has one, is a line: the value of the target itself.
    """
    column, published = data.shape.column(data.column), published_numbers(data.shape)
    drawn = printed = False
    for place, row in enumerate(data.rows):
        values = data.results.values(row.row, data.column, data.metric.metric)
        span = data.interval(row.row, data.column)
        if span is None:
            continue
        seeds = sorted(values)
        # The golden ratio spreads successive points evenly, the same from run to run.
        heights = place + SPREAD * (2 * np.modf(np.arange(len(seeds)) * 0.618034)[0] - 1)
        colour = data.styles[row.row].colour if row.role is not Role.draws else "#56B4E9"
        ax.scatter([values[seed] for seed in seeds], heights, s=5, color=colour, alpha=0.6, linewidths=0)
        drawn = True
        ax.errorbar(span.mean, place, xerr=span.margin, color="black", marker="|", markersize=5, capsize=2)
        for version in data.metric.published:
            number = published.find(version, data.metric, column, row)
            if number is not None:
                value = number.mean * number.scale
                ax.plot(value, place, marker="D", markersize=4.5, mfc="white", mec="black", zorder=3)
                printed = True
    if not drawn:
        show_missing(ax)
    if data.floor is not None:
        ax.axvline(data.floor, color=FLOOR.colour, linestyle=FLOOR.line, zorder=0)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    name_rows(ax, data.rows)
    if data.panel.limits is not None:
        ax.set_xlim(*data.panel.limits)
    name = data.panel.x_label or data.metric.name
    ax.set_xlabel(f"{name}; ◇ published" if printed else name)


KINDS = {"repeats": PanelKind(draw_repeats, required=("metric",), optional=("floor", "limits", "x_label"))}
