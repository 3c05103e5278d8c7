"""Interactive charts as Plotly reads them: the values of a table, and what all charts share.

The figures are plain dictionaries: Plotly's own Python classes check each value, which takes longer than all
the rest of a report of thousands of runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from runner.report.analysis.table_entries import lost_of
from runner.report.figures.metric_axis import Quantity, spread_out
from runner.report.figures.style import RowStyle
from runner.report.runs.stored_results import some_of

Trace = dict[str, Any]

SYMBOLS = {
    "o": "circle", "s": "square", "D": "diamond", "^": "triangle-up", "v": "triangle-down", "P": "cross",
    "X": "x", "p": "pentagon", "<": "triangle-left", ">": "triangle-right", "d": "diamond-tall",
    "h": "hexagon", "*": "star",
}  # fmt: skip
REFERENCES = {"--": "line-ew-open", ":": "circle-open"}
"""Symbols of reference draws, which have no marker, by their line."""

DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
HOVER = "%{meta}<br>%{x}: %{y:.8~g}<br>%{customdata}<extra></extra>"
FEWEST, MOST = 5, 12
"""Significant digits that are said of the end of an interval."""

BAND = 0.15
"""Opacity of an interval along a run."""


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
        spread = spread_out(own["mean"].tolist())
        plots.append({"name": title, "traces": traces, "layout": layout, "logy": spread})
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
    notes = [some_of(line["n"], line["n"] + lost_of(line)) for line in group.to_dict("records")]
    trace = {
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
    return apart(trace, notes)


def apart(trace: Trace, notes: Sequence[str | None]) -> Trace:
    """The points of a row; means of only some runs, those with a note ``3 of 5``, are hollow with a dot.

    A symbol that has no area, of a reference, gives way to a circle.
    """
    if not any(notes):
        return trace
    marker = trace["marker"]
    symbol = marker["symbol"]
    hollow = "circle-open-dot" if symbol.endswith("-open") else f"{symbol}-open-dot"
    said = zip(trace["customdata"], notes, strict=True)
    return trace | {
        "marker": marker | {"symbol": [hollow if note else symbol for note in notes]},
        "customdata": [f"{text}: {note} runs have a value" if note else text for text, note in said],
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


def faint(colour: str) -> str:
    """A colour such as ``#AABBCC`` with the opacity of a band."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{BAND})"
