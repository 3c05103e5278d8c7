"""Panels `against_columns` and `against_steps`: a metric over the sweep, or along the run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from metrics.inference.few_seeds import Interval, interval
from runner.report.block_references import ALONG, along_runs
from runner.report.figure_shape import Role
from runner.report.figures.labels.tick_labels import label_ticks, label_values, spans_decades
from runner.report.figures.metric_axis import Quantity, metric_label
from runner.report.figures.panel import PanelData, PanelKind, name_left_out, show_missing
from runner.report.figures.partial_means import half_filled, mark_partial, write_beside
from runner.report.figures.published_marks import (
    CLOUD,
    MEANS,
    SMALL,
    SMALL_MEAN,
    mark_published,
    published_values,
    side_by_side,
)
from runner.report.figures.reference_lines import level, mark_reference
from runner.report.figures.style import FLOOR
from runner.report.runs.column_keys import chosen
from runner.report.runs.stored_results import some_of
from runner.report.table_shape import RowShape

FEW = 5
"""Recorded steps up to which a panel shows points with bars."""

BAND = 0.2
"""Opacity of a band beside two others; more make each lighter."""

MARK_EVERY = 0.3
"""Distance of the markers along a line, as a share of the panel's diagonal."""


def draw_against_columns(ax: Axes, data: PanelData) -> None:
    """The metric's mean and 95 % interval at each column, placed by the value of the panel's `x`.

    A published number is a hollow marker there; rows that have some stand side by side. A mean of only some
    runs stands apart, and a line is broken where it is not of all, since it would join means of different
    runs, and where a logarithmic axis has no place for a mean.
    """
    everywhere, quantity, low = set[float](), data.quantity, list[str]()
    ticks = _places(data)
    aside, crowded = side_by_side(data, sorted(set(ticks.values())))
    for row in data.rows:
        points: list[tuple[float, Interval | None]] = []
        style, reference = data.styles[row.row], row.role is Role.draws
        for label in data.panel.columns:
            span, tick = data.interval(row.row, label), ticks.get((row.row, label))
            if tick is None or not (span or data.results.at(row.row, label)):
                continue
            place, note = aside(row.row, tick), data.partial(row.row, label)
            points.append((place, None if note else span))
            if span is None:
                continue
            everywhere.add(tick)
            if data.panel.log and span.mean <= 0:
                low.append(row.row)
            elif note:
                _, ends = _with_gaps([span], quantity)
                ax.errorbar(place, span.mean, yerr=ends, fmt="none", ecolor=style.colour, capsize=2)
                mark_partial(ax, style, place, span.mean, note)
            elif not reference and (alone := data.single(span.n)):
                write_beside(ax, place, span.mean, alone)
            for version, value, size in published_values(data, row.row, label):
                mark_published(ax, style, place, value, version, size * (SMALL if crowded else 1.0))
        points.sort(key=lambda point: point[0])
        whole = {place: span.mean for place, span in points if span is not None}
        if not whole:
            continue
        places = [place for place, _ in points]
        means, off = _with_gaps(_on_axis(data, [span for _, span in points]), quantity)
        if not np.isfinite(means).any():
            continue
        layer = CLOUD if reference else MEANS
        look = style.look | (SMALL_MEAN if crowded else {})
        bars = ax.errorbar(places, means, yerr=off, **look, capsize=2, capthick=1.0, zorder=layer)
        if reference:
            mark_reference(bars.lines[0], row.row)
        positive = all(place > 0 and mean > 0 for place, mean in whole.items())
        if data.panel.theory is not None and data.panel.row in (None, row.row) and positive:
            growth = power_law(whole, data.panel.theory / data.panel.x_power)
            ax.plot([*growth], [*growth.values()], color=style.colour, linestyle=":", linewidth=0.8, zorder=1)
    # Powers of evenly spaced values crowd at one end.
    if everywhere and not data.panel.log_x and data.panel.x_power == 1.0:
        ax.set_xticks(sorted(everywhere))
    if not everywhere:
        show_missing(ax)
    if data.panel.log_x:
        ax.set_xscale("log")
        if not spans_decades(ax, 1):
            label_values(ax, sorted(everywhere))
        elif not spans_decades(ax, 2):
            label_ticks(ax)
    ax.set_xlabel(data.panel.x_label or data.panel.x)
    name_left_out(ax, low)
    _label_metric(ax, data)


def draw_against_steps(ax: Axes, data: PanelData) -> None:
    """The metric along the runs of one column, mean over seeds and 95 % interval.

    Seeds are averaged at each recorded step at which all have a finite value; on an axis of seconds that
    point is at the median of their times. Up to `FEW` recorded steps the intervals are bars, side by side;
    beyond that they are bands behind all lines, which are broken at the steps that are left out. Where runs
    of a row failed, its markers are half filled and the last of them says so: its line joins means of the
    same runs. At the last one of a row of one seed stands ``n = 1``.
    """
    metric, curves = data.metric.metric, list[tuple[RowShape, np.ndarray, np.ndarray, np.ndarray]]()
    quantity, low = data.quantity, list[str]()
    partial, single = dict[str, str | None](), dict[str, str | None]()
    for row in data.rows:
        curve = data.results.curves(row.row, data.column, metric)
        partial[row.row] = some_of(*data.results.coverage_along(row.row, data.column, {*curve["seed"]}))
        found: list[tuple[float, Interval | None]] = []
        for _, group in curve.groupby("step"):
            values = [float(value) for value in group["value"]]
            # A mean over the other seeds would be too good.
            span = interval(values) if all(map(math.isfinite, values)) else None
            found.append((along_runs(data.panel.x, group[data.panel.x].tolist()), span))
        spans = [span for _, span in found]
        if (shown := _on_axis(data, spans)) != spans:
            low.append(row.row)
        if row.role is not Role.draws:
            single[row.row] = data.single(curve["seed"].nunique())
        if any(shown):
            means, off = _with_gaps(shown, quantity)
            curves.append((row, np.array([place for place, _ in found]), means, off))
    log_x = data.panel.log_x is not False
    few = max((int(np.isfinite(means).sum()) for *_, means, _ in curves), default=0) <= FEW
    if few:
        kept = [(curve, np.isfinite(curve[2])) for curve in curves]
        curves = [(row, places[has], means[has], off[:, has]) for (row, places, means, off), has in kept]
    gaps = [float(np.diff(places).min()) for _, places, *_ in curves if len(places) > 1]
    for index, (row, places, means, off) in enumerate(curves):
        style, note = data.styles[row.row], partial[row.row]
        look = half_filled(style) if note else style.look
        if few:
            # Rows share their steps; their evaluations and seconds differ by themselves.
            aside = (index - (len(curves) - 1) / 2) / len(curves) if data.panel.x == "step" else 0.0
            at = places * 1.25**aside if log_x else places + 0.4 * aside * min(gaps, default=1.0)
            look = look if row.role is Role.draws else {**look, "linestyle": "none"}
            (line, *_) = ax.errorbar(at, means, yerr=off, **look, capsize=2, elinewidth=0.9, zorder=3)
        else:
            at, often = places, (index / len(curves) * MARK_EVERY, MARK_EVERY)
            (line,) = ax.plot(at, means, **look, markevery=often, zorder=3)
            alpha = BAND / max(1.0, len(curves) / 3)
            ax.fill_between(
                places, means - off[0], means + off[1], color=style.colour, alpha=alpha, linewidth=0, zorder=1
            )
            alone = _alone(means)
            ax.errorbar(
                places[alone], means[alone], yerr=off[:, alone], fmt=".", color=style.colour, markersize=3
            )
        if row.role is Role.draws:
            mark_reference(line, row.row)
        last = np.flatnonzero(np.isfinite(means))[-1]
        if note:
            mark_partial(ax, style, at[last], means[last], note)
        elif one_seed := single.get(row.row):
            write_beside(ax, at[last], means[last], one_seed)
    if not curves and not low:
        show_missing(ax)
    if data.floor is not None:
        level(ax, data.floor, FLOOR, data.floor_label)
    if log_x:
        ax.set_xscale("log")
        if not spans_decades(ax, 2):
            label_ticks(ax)
    if few and curves and data.panel.x == "step":
        label_values(ax, sorted({place for _, places, *_ in curves for place in places}))
        ax.margins(x=0.25)
    ax.set_xlabel(data.panel.x_label or ALONG[data.panel.x])
    name_left_out(ax, low)
    _label_metric(ax, data)


def _places(data: PanelData) -> dict[tuple[str, str], float]:
    """By row and column where the panel has its runs."""
    cells = [(row.row, label) for row in data.rows for label in data.panel.columns]
    configs = {cell: config for cell in cells if (config := data.results.config(*cell)) is not None}
    return {cell: float(chosen(each, data.panel.x)) ** data.panel.x_power for cell, each in configs.items()}


def _on_axis(data: PanelData, spans: Sequence[Interval | None]) -> list[Interval | None]:
    """Those of `spans` that the metric's axis has a place for, None for the others."""
    return [None if span is None or (data.panel.log and span.mean <= 0) else span for span in spans]


def _with_gaps(spans: Sequence[Interval | None], quantity: Quantity) -> tuple[np.ndarray, np.ndarray]:
    """Means (n,), and how far their intervals go down and up (2, n); NaN where there is none."""
    ends = [quantity.errors(span.mean, span.margin) if span else (math.nan, math.nan) for span in spans]
    return np.array([span.mean if span else math.nan for span in spans]), np.array(ends).T


def _alone(means: np.ndarray) -> np.ndarray:
    """Which means (n,) have no neighbour that their line could join them with."""
    has = np.pad(np.isfinite(means), 1)
    return np.asarray(has[1:-1] & ~has[:-2] & ~has[2:])


def power_law(points: Mapping[float, float], power: float) -> dict[float, float]:
    """c x^power at each x of `points`, with the c at which the logarithms are off by 0 on average."""
    logs = [math.log(value) - power * math.log(place) for place, value in points.items()]
    factor = math.exp(sum(logs) / len(logs))
    return {place: factor * place**power for place in points}


def _label_metric(ax: Axes, data: PanelData) -> None:
    """The metric's axis."""
    ax.set_ylabel(metric_label(data.metric, data.quantity, data.panel.y_label))
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
