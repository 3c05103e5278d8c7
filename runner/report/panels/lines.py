"""Panels `against_columns` and `against_steps`: a metric over the sweep, or along the run."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes

from metrics.inference.few_seeds import interval
from runner.report.block_references import ALONG
from runner.report.figure_shape import Role
from runner.report.figures.labels.tick_labels import label_ticks, label_values, spans_a_decade
from runner.report.figures.metric_axis import metric_label, quantity_of
from runner.report.figures.panel import PanelData, PanelKind, mark_partial, show_missing
from runner.report.figures.published_marks import mark_published, published_values
from runner.report.figures.reference_lines import level, mark_reference
from runner.report.figures.style import FLOOR
from runner.report.runs.column_keys import chosen

FEW = 5
"""Recorded steps up to which a panel shows points with bars."""

BAND = 0.2
"""Opacity of a band beside two others; more make each lighter."""

MARK_EVERY = 0.3
"""Distance of the markers along a line, as a share of the panel's diagonal."""


def draw_against_columns(ax: Axes, data: PanelData) -> None:
    """The metric's mean and 95 % interval at each column, placed by the value of the panel's `x`.

    A published number is a hollow marker there.
    """
    everywhere = set[float]()
    for row in data.rows:
        points = []
        style, reference = data.styles[row.row], row.role is Role.draws
        for label in data.panel.columns:
            span = data.interval(row.row, label)
            runs = data.results.at(row.row, label)
            if span is None or not runs:
                continue
            place = float(chosen(runs[0].config, data.panel.x)) ** data.panel.x_power
            points.append((place, span))
            mark_partial(ax, data, row.row, label, (place, span.mean))
            for version, value, size in published_values(data, row.row, label):
                mark_published(ax, style, place, value, version, size)
        if not points:
            continue
        points.sort(key=lambda point: point[0])
        places, means = [x for x, _ in points], [span.mean for _, span in points]
        off = np.array(
            [quantity_of(data.metric.metric).errors(span.mean, span.margin) for _, span in points]
        ).T
        bars = ax.errorbar(places, means, yerr=off, **style.look, capsize=2, zorder=1 if reference else 2)
        if reference:
            mark_reference(bars.lines[0], row.row)
        if data.panel.theory is not None and data.panel.row in (None, row.row):
            growth = power_law(places, means, data.panel.theory / data.panel.x_power)
            ax.plot(places, growth, color=style.colour, linestyle=":", linewidth=0.8, zorder=1)
        everywhere |= set(places)
        # Powers of evenly spaced values crowd at one end.
        if not data.panel.log_x and data.panel.x_power == 1.0:
            ax.set_xticks(places)
    if not everywhere:
        show_missing(ax)
    if data.panel.log_x:
        ax.set_xscale("log")
        if not spans_a_decade(ax):
            label_values(ax, sorted(everywhere))
    ax.set_xlabel(data.panel.x_label or data.panel.x)
    _label_metric(ax, data)


def draw_against_steps(ax: Axes, data: PanelData) -> None:
    """The metric along the runs of one column, mean over seeds and 95 % interval.

    Seeds are averaged at each recorded step at which all have a finite value; on an axis of seconds that
    point is at their mean time. Up to `FEW` recorded steps the intervals are bars, side by side; beyond that
    they are bands behind all lines.
    """
    metric, curves = data.metric.metric, []
    quantity = quantity_of(metric)
    for row in data.rows:
        curve = data.results.curves(row.row, data.column, metric)
        found, spans = [], []
        for _, group in curve.groupby("step"):
            values = [float(value) for value in group["value"]]
            # A mean over the other seeds would be too good.
            span = interval(values) if all(map(math.isfinite, values)) else None
            if span is not None:
                found.append(float(group[data.panel.x].mean()))
                spans.append(span)
        if spans:
            curves.append((row, np.array(found), spans))
    log_x = data.panel.log_x is not False
    few = max((len(places) for _, places, _ in curves), default=0) <= FEW
    gaps = [float(np.diff(places).min()) for _, places, _ in curves if len(places) > 1]
    for index, (row, places, spans) in enumerate(curves):
        style = data.styles[row.row]
        means = np.array([span.mean for span in spans])
        off = np.array([quantity.errors(span.mean, span.margin) for span in spans]).T
        if few:
            # Rows share their steps; their evaluations and seconds differ by themselves.
            aside = (index - (len(curves) - 1) / 2) / len(curves) if data.panel.x == "step" else 0.0
            at = places * 1.25**aside if log_x else places + 0.4 * aside * min(gaps, default=1.0)
            look = style.look if row.role is Role.draws else {**style.look, "linestyle": "none"}
            (line, *_) = ax.errorbar(at, means, yerr=off, **look, capsize=2, elinewidth=0.9, zorder=3)
        else:
            often = (index / len(curves) * MARK_EVERY, MARK_EVERY)
            (line,) = ax.plot(places, means, **style.look, markevery=often, zorder=3)
            alpha = BAND / max(1.0, len(curves) / 3)
            ax.fill_between(
                places, means - off[0], means + off[1], color=style.colour, alpha=alpha, linewidth=0, zorder=1
            )
        if row.role is Role.draws:
            mark_reference(line, row.row)
    if not curves:
        show_missing(ax)
    if data.floor is not None:
        level(ax, data.floor, FLOOR, data.floor_label)
    if log_x:
        ax.set_xscale("log")
        if not spans_a_decade(ax):
            label_ticks(ax)
    if few and curves and data.panel.x == "step":
        label_values(ax, sorted({place for _, places, _ in curves for place in places}))
        ax.margins(x=0.25)
    ax.set_xlabel(data.panel.x_label or ALONG[data.panel.x])
    _label_metric(ax, data)


def power_law(x: list[float], y: list[float], power: float) -> list[float]:
    """c x^power at each x, with the c at which the logarithms of `y` are off by 0 on average."""
    logs = [math.log(value) - power * math.log(place) for place, value in zip(x, y, strict=True)]
    factor = math.exp(sum(logs) / len(logs))
    return [factor * place**power for place in x]


def _label_metric(ax: Axes, data: PanelData) -> None:
    """The metric's axis."""
    ax.set_ylabel(metric_label(data.metric, data.panel.y_label))
    if data.panel.log:
        ax.set_yscale("log", nonpositive="clip")
    if data.panel.limits is not None:
        ax.set_ylim(*data.panel.limits)


OPTIONAL = ("x_label", "y_label", "log", "log_x", "limits")
KINDS = {
    "against_columns": PanelKind(
        draw_against_columns, ("metric", "x"), (*OPTIONAL, "row", "x_power", "theory"), one_column=False
    ),
    "against_steps": PanelKind(
        draw_against_steps, ("metric",), ("x", *OPTIONAL, "floor"), allowed={"x": tuple(ALONG)}
    ),
}
