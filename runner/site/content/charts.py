"""Interactive charts as Plotly reads them: the values of a table, and metrics along runs.

The figures are plain dictionaries: Plotly's own Python classes check each value, which takes longer than all
the rest of a report of thousands of runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from runner.report.figures.style import RowStyle
from runner.site.content.averages import Point
from runner.site.content.courses import AXES

Trace = dict[str, Any]

SYMBOLS = {
    "o": "circle", "s": "square", "D": "diamond", "^": "triangle-up", "v": "triangle-down", "P": "cross",
    "X": "x", "p": "pentagon", "<": "triangle-left", ">": "triangle-right", "d": "diamond-tall",
    "h": "hexagon", "*": "star", "x": "x-thin-open", "+": "cross-thin-open", "1": "y-down-open",
    "2": "y-up-open", "3": "y-left-open", "4": "y-right-open", "|": "line-ns-open", "_": "line-ew-open",
    "": "circle-open",
}  # fmt: skip
DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
HOVER = "%{meta}<br>%{x}: %{y:.5g}<br>%{customdata}<extra></extra>"
BAND = 0.15
"""Opacity of an interval along a run."""


def intervals_chart(
    frame: pd.DataFrame, titles: Mapping[str, str], styles: Mapping[str, RowStyle], versions: Sequence[str]
) -> dict[str, Any]:
    """Mean and interval of every row in every column, one plot a metric, published values beside them.

    Args:
        frame: the table's numbers, as `runner.report.analysis.table_entries.Summary.frame` gives them.
        titles: what the axis of each metric says.
        styles: how each row looks.
        versions: labels of the published versions.
    """
    plots = []
    for metric, title in titles.items():
        own = frame[(frame["metric"] == metric) & frame["mean"].notna()]
        if own.empty:
            continue
        traces = [_interval(row, group, styles[row]) for row, group in own.groupby("row", sort=False)]
        for version in versions:
            printed = frame[(frame["metric"] == metric) & frame[f"published_{version}"].notna()]
            traces += [
                _published(row, group, version, styles[row])
                for row, group in printed.groupby("row", sort=False)
            ]
        layout = {"yaxis": {"title": {"text": title}}, "xaxis": {"type": "category"}, "scattermode": "group"}
        plots.append({"name": title, "traces": traces, "layout": layout})
    return {"plots": plots}


def _interval(row: str, group: pd.DataFrame, style: RowStyle) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": row,
        "meta": row,
        "legendgroup": row,
        "x": list(group["cell"]),
        "y": list(group["mean"]),
        "error_y": {"type": "data", "symmetric": False, **_errors(group), "thickness": 1.2, "width": 3},
        "marker": {"color": style.colour, "symbol": SYMBOLS[style.marker], "size": 8},
        "customdata": [said_of(*each) for each in zip(group["lo"], group["hi"], group["n"], strict=True)],
        "hovertemplate": HOVER,
    }


def _errors(group: pd.DataFrame) -> dict[str, list[float]]:
    up, down = group["hi"] - group["mean"], group["mean"] - group["lo"]
    return {"array": list(up.fillna(0.0)), "arrayminus": list(down.fillna(0.0))}


def _published(row: str, group: pd.DataFrame, version: str, style: RowStyle) -> Trace:
    symbol = SYMBOLS[style.marker]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{row}, published ({version})",
        "meta": f"{row}, published ({version})",
        "legendgroup": row,
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
    return f"95 % interval {lo:.5g} to {hi:.5g}, n = {n:.0f}"


def courses_plot(
    title: str, lines: Mapping[str, Sequence[Point]], styles: Mapping[str, RowStyle]
) -> dict[str, Any]:
    """One metric along runs: a line with its band for each row; `lines` are its points."""
    traces: list[Trace] = []
    for row, points in lines.items():
        traces += _line(row, points, styles[row])
    return {"name": title, "traces": traces, "layout": {"yaxis": {"title": {"text": title}}}}


def courses_chart(plots: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Plots along runs, whose horizontal axis can be chosen."""
    return {"plots": list(plots), "along": AXES}


def _line(row: str, points: Sequence[Point], style: RowStyle) -> list[Trace]:
    along = {key: [getattr(point, key) for point in points] for key in AXES}
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": row,
        "meta": row,
        "legendgroup": row,
        "along": along,
        "y": [point.span.mean for point in points],
        "line": {"color": style.colour, "dash": DASHES.get(str(style.line), "longdashdot"), "width": 2},
        "marker": {"color": style.colour, "symbol": SYMBOLS[style.marker], "size": 5},
        "customdata": [said_of(point.span.lo, point.span.hi, point.span.n) for point in points],
        "hovertemplate": HOVER,
    }
    ends = [(point.span.lo, point.span.hi) for point in points]
    if any(lo is None for lo, _ in ends):
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
