"""Panels `against_columns` and `against_steps`: a metric over the sweep, or along the run."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes

from metrics.statistics.inference import interval
from runner.report.figure_shape import Role
from runner.report.figures.panel import PanelData, PanelKind, show_missing
from runner.report.figures.style import FLOOR
from runner.report.stored_results import chosen

ALONG = {
    "step": "steps",
    "evaluations": "target evaluations per chain, tuning not counted",
    "seconds": "seconds a run, tuning not counted",
}


def draw_against_columns(ax: Axes, data: PanelData) -> None:
    """The metric's mean and 95 % interval at each column, placed by the value of the panel's `x`."""
    drawn = False
    for row in data.rows:
        points = []
        for label in data.panel.columns:
            span = data.interval(row.row, label)
            runs = data.results.at(row.row, label)
            if span is not None and runs:
                points.append((float(chosen(runs[0].config, data.panel.x)) ** data.panel.x_power, span))
        if not points:
            continue
        points.sort(key=lambda point: point[0])
        style = data.styles[row.row]
        places, means = [x for x, _ in points], [span.mean for _, span in points]
        margins = [span.margin or 0.0 for _, span in points]
        above = 1 if row.role is Role.draws else 2
        ax.errorbar(places, means, yerr=margins, **style.look, capsize=2, zorder=above)
        if data.panel.theory is not None and data.panel.row in (None, row.row):
            growth = power_law(places, means, data.panel.theory / data.panel.x_power)
            ax.plot(places, growth, color=style.colour, linestyle=":", linewidth=0.8, zorder=1)
        drawn = True
        # Powers of evenly spaced values crowd at one end.
        if not data.panel.log_x and data.panel.x_power == 1.0:
            ax.set_xticks(places)
    if not drawn:
        show_missing(ax)
    if data.panel.log_x:
        ax.set_xscale("log")
    ax.set_xlabel(data.panel.x_label or data.panel.x)
    _label_metric(ax, data)


def draw_against_steps(ax: Axes, data: PanelData) -> None:
    """The metric along the runs of one column, mean over seeds and 95 % band.

    Seeds are averaged at each recorded step; on an axis of seconds that point is at their mean time.
    """
    drawn = False
    for row in data.rows:
        course = data.results.courses(row.row, data.column, data.metric.metric)
        course = course[np.isfinite(course["value"].astype(float))]
        if course.empty:
            continue
        places, spans = [], []
        for _, group in course.groupby("step"):
            span = interval([float(value) for value in group["value"]])
            if span is not None:
                places.append(float(group[data.panel.x].mean()))
                spans.append(span)
        style = data.styles[row.row]
        means = np.array([span.mean for span in spans])
        margins = np.array([span.margin or 0.0 for span in spans])
        ax.plot(places, means, color=style.colour, linestyle=style.line)
        ax.fill_between(places, means - margins, means + margins, color=style.colour, alpha=0.2, linewidth=0)
        drawn = True
    if not drawn:
        show_missing(ax)
    if data.floor is not None:
        ax.axhline(data.floor, color=FLOOR.colour, linestyle=FLOOR.line, zorder=1)
    if data.panel.log_x is not False:
        ax.set_xscale("log")
    ax.set_xlabel(data.panel.x_label or ALONG.get(data.panel.x, data.panel.x))
    _label_metric(ax, data)


def power_law(x: list[float], y: list[float], power: float) -> list[float]:
    """c x^power at each x, with the c at which the logarithms of `y` are off by 0 on average."""
    logs = [math.log(value) - power * math.log(place) for place, value in zip(x, y, strict=True)]
    factor = math.exp(sum(logs) / len(logs))
    return [factor * place**power for place in x]


def _label_metric(ax: Axes, data: PanelData) -> None:
    """The metric's axis."""
    ax.set_ylabel(data.panel.y_label or data.metric.name)
    if data.panel.log:
        ax.set_yscale("log", nonpositive="clip")
    if data.panel.limits is not None:
        ax.set_ylim(*data.panel.limits)


OPTIONAL = ("x_label", "y_label", "log", "log_x", "limits")
KINDS = {
    "against_columns": PanelKind(
        draw_against_columns, ("metric", "x"), (*OPTIONAL, "row", "x_power", "theory"), one_column=False
    ),
    "against_steps": PanelKind(draw_against_steps, ("metric",), ("x", *OPTIONAL, "floor")),
}
