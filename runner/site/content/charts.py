"""Interactive charts as Plotly reads them: the values of a table, and metrics along runs.

The figures are plain dictionaries: Plotly's own Python classes check each value, which takes longer than all
the rest of a report of thousands of runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from runner.report.block_references import ALONG
from runner.report.figures.metric_axis import Quantity
from runner.report.figures.style import RowStyle
from runner.site.content.averages import Point

Trace = dict[str, Any]

SYMBOLS = {
    "o": "circle", "s": "square", "D": "diamond", "^": "triangle-up", "v": "triangle-down", "P": "cross",
    "X": "x", "p": "pentagon", "<": "triangle-left", ">": "triangle-right", "d": "diamond-tall",
    "h": "hexagon", "*": "star", "x": "x-thin-open", "+": "cross-thin-open", "1": "y-down-open",
    "2": "y-up-open", "3": "y-left-open", "4": "y-right-open", "|": "line-ns-open", "_": "line-ew-open",
}  # fmt: skip
REFERENCES = {"--": "line-ew-open", ":": "circle-open"}
"""Symbols of reference draws, which have no marker, by their line."""

DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
HOVER = "%{meta}<br>%{x}: %{y:.8~g}<br>%{customdata}<extra></extra>"
FEWEST, MOST = 5, 12
"""Significant digits that are said of the end of an interval."""

BAND = 0.15
"""Opacity of an interval along a run."""

SPREAD = 50
"""Ratio of the largest to the smallest mean from which on the axis is logarithmic at first."""


def intervals_chart(
    frame: pd.DataFrame,
    names: Mapping[str, str],
    known: Mapping[str, Quantity],
    styles: Mapping[str, RowStyle],
    versions: Sequence[str],
) -> dict[str, Any]:
    """Mean and interval of every row in every column, one plot a metric, published values beside them.

    Args:
        frame: the table's numbers, as `runner.report.analysis.table_entries.Summary.frame` gives them.
        names: of the metrics.
        known: their units and ranges.
        styles: how each row looks.
        versions: labels of the published versions.
    """
    plots = []
    for metric, name in names.items():
        own = frame[(frame["metric"] == metric) & frame["mean"].notna()]
        if own.empty:
            continue
        limits, title = (known[metric].low, known[metric].high), known[metric].titled(name)
        traces = [_interval(row, group, styles[row], limits) for row, group in _by_row(own)]
        for version in versions:
            printed = frame[(frame["metric"] == metric) & frame[f"published_{version}"].notna()]
            traces += [_published(row, group, version, styles[row]) for row, group in _by_row(printed)]
        layout = {"yaxis": axis(known[metric], name), "xaxis": {"type": "category"}, "scattermode": "group"}
        spread = own["mean"].min() > 0 and own["mean"].max() >= SPREAD * own["mean"].min()
        plots.append({"name": title, "traces": traces, "layout": layout, "logy": bool(spread)})
    return {"plots": plots}


def symbol_of(style: RowStyle) -> str:
    """Plotly's name of a row's marker."""
    return SYMBOLS[style.marker] if style.marker else REFERENCES.get(str(style.line), "diamond-open")


def axis(quantity: Quantity, name: str) -> dict[str, Any]:
    """An axis of Plotly with unit and better direction."""
    return {"title": {"text": quantity.axis(name, "<br>")}}


def _by_row(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(str(row), group) for row, group in frame.groupby("row", sort=False)]


def _interval(row: str, group: pd.DataFrame, style: RowStyle, limits: tuple[float, float]) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": row,
        "meta": row,
        "legendgroup": row,
        "offsetgroup": row,
        "x": list(group["cell"]),
        "y": list(group["mean"]),
        "error_y": {
            "type": "data",
            "symmetric": False,
            **_errors(group, limits),
            "thickness": 1.2,
            "width": 3,
        },
        "marker": {"color": style.colour, "symbol": symbol_of(style), "size": 8},
        "customdata": [said_of(*each) for each in zip(group["lo"], group["hi"], group["n"], strict=True)],
        "hovertemplate": HOVER,
    }


def _errors(group: pd.DataFrame, limits: tuple[float, float]) -> dict[str, list[float]]:
    """How far the intervals go up and down, within the values that the metric can have."""
    low, high = limits
    up, down = group["hi"].clip(upper=high) - group["mean"], group["mean"] - group["lo"].clip(lower=low)
    return {
        name: list(off.fillna(0.0).clip(lower=0.0)) for name, off in (("array", up), ("arrayminus", down))
    }


def _published(row: str, group: pd.DataFrame, version: str, style: RowStyle) -> Trace:
    symbol = symbol_of(style)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{row}, published ({version})",
        "meta": f"{row}, published ({version})",
        "legendgroup": row,
        "offsetgroup": row,
        "showlegend": False,
        "published": True,
        "x": list(group["cell"]),
        "y": list(group[f"published_{version}"]),
        "marker": {"color": style.colour, "symbol": f"{symbol.removesuffix('-open')}-open", "size": 8},
        "customdata": ["as printed"] * len(group),
        "hovertemplate": HOVER,
    }


def said_of(lo: float | None, hi: float | None, n: float) -> str:
    """``95 % interval 0.1 to 0.3, n = 5``."""
    if lo is None or hi is None or lo != lo or hi != hi:
        return f"n = {n:.0f}"
    digits = digits_apart(lo, hi)
    return f"95 % interval {lo:.{digits}g} to {hi:.{digits}g}, n = {n:.0f}"


def digits_apart(lo: float, hi: float) -> int:
    """Significant digits of the ends of an interval: five, or more where three of its width need them."""
    width, largest = hi - lo, max(abs(lo), abs(hi))
    if width <= 0.0:
        return FEWEST
    return max(FEWEST, min(MOST, math.floor(math.log10(largest)) - math.floor(math.log10(width)) + 3))


def curves_plot(
    quantity: Quantity, name: str, lines: Mapping[str, Sequence[Point]], styles: Mapping[str, RowStyle]
) -> dict[str, Any]:
    """One metric, called `name`, along runs: a line with its band for each row; `lines` are its points."""
    traces: list[Trace] = []
    for row, points in lines.items():
        traces += _line(quantity, row, points, styles[row])
    return {"name": quantity.titled(name), "traces": traces, "layout": {"yaxis": axis(quantity, name)}}


def curves_chart(plots: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Plots along runs, whose horizontal axis can be chosen."""
    return {"plots": list(plots), "along": ALONG}


def _line(quantity: Quantity, row: str, points: Sequence[Point], style: RowStyle) -> list[Trace]:
    along = {key: [getattr(point, key) for point in points] for key in ALONG}
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": row,
        "meta": row,
        "legendgroup": row,
        "along": along,
        "y": [point.span.mean for point in points],
        "line": {"color": style.colour, "dash": DASHES.get(str(style.line), "longdashdot"), "width": 2},
        "marker": {"color": style.colour, "symbol": symbol_of(style), "size": 5},
        "customdata": [said_of(point.span.lo, point.span.hi, point.span.n) for point in points],
        "hovertemplate": HOVER,
    }
    spans = [(point.span.lo, point.span.hi) for point in points]
    ends = [quantity.clipped(lo, hi) for lo, hi in spans if lo is not None and hi is not None]
    if len(ends) < len(points):
        return [line]
    bounds = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": row,
            "legendgroup": row,
            "showlegend": False,
            "hoverinfo": "skip",
            "along": along,
            "y": [end[place] for end in ends],
            "line": {"width": 0, "color": style.colour},
            **({"fill": "tonexty", "fillcolor": faint(style.colour)} if place else {}),
        }
        for place in (0, 1)
    ]
    return [*bounds, line]


def faint(colour: str) -> str:
    """A colour such as ``#0072B2`` with the opacity of a band."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{BAND})"
