"""What panels share: points with intervals, published values, lines of references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from metrics.inference.few_seeds import Interval
from runner.report.figures.metric_axis import Quantity
from runner.report.figures.style import FLOOR, RowStyle
from runner.site.content.charts import DASHES, HOVER, said_of, symbol_of

Trace = dict[str, Any]
Plot = dict[str, Any]


def points(
    row: str, style: RowStyle, places: Sequence[Any], spans: Sequence[Interval], quantity: Quantity
) -> Trace:
    """A row's means with their intervals, within the values that the metric can have."""
    ends = [quantity.errors(span.mean, span.margin) for span in spans]
    return {
        "type": "scatter", "mode": "markers", "name": row, "meta": row, "legendgroup": row,
        "x": list(places), "y": [span.mean for span in spans], "error_y": error_bar(ends),
        "marker": {"color": style.colour, "symbol": symbol_of(style), "size": 8},
        "customdata": [said_of(span.lo, span.hi, span.n) for span in spans], "hovertemplate": HOVER,
    }  # fmt: skip


def joined(trace: Trace, style: RowStyle) -> Trace:
    """The points of a row joined by its line."""
    line = {"color": style.colour, "dash": DASHES.get(str(style.line), "longdashdot"), "width": 2}
    return trace | {"mode": "lines+markers" if style.marker else "lines", "line": line}


def error_bar(ends: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Bars that go down and up by `ends`."""
    down, up = ([end[place] for end in ends] for place in (0, 1))
    return {
        "type": "data", "symmetric": False, "arrayminus": down, "array": up, "thickness": 1.2, "width": 3
    }  # fmt: skip


def printed(row: str, style: RowStyle, version: str, x: Sequence[Any], y: Sequence[Any]) -> Trace:
    """Published values of a row, as hollow markers."""
    name = f"{row}, published ({version})"
    symbol = symbol_of(style).removesuffix("-open")
    return {
        "type": "scatter", "mode": "markers", "name": name, "meta": name, "legendgroup": row,
        "showlegend": False, "published": True, "x": list(x), "y": list(y),
        "marker": {"color": style.colour, "symbol": f"{symbol}-open", "size": 9},
        "hovertemplate": "%{meta}<br>%{x}: %{y}<extra></extra>",
    }  # fmt: skip


def reference(name: str, x: Sequence[Any], y: Sequence[Any]) -> Trace:
    """A grey line, with its name on it."""
    return {
        "type": "scatter", "mode": "lines", "name": name, "meta": name, "legendgroup": name,
        "x": list(x), "y": list(y),
        "line": {"color": FLOOR.colour, "dash": DASHES[str(FLOOR.line)], "width": 2},
        "hovertemplate": "%{meta}: %{x:.5g}, %{y:.5g}<extra></extra>",
    }  # fmt: skip
