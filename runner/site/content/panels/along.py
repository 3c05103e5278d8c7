"""Metrics along the runs: one plot a metric and column, with a line and its band for each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from runner.report.block_references import ALONG
from runner.report.figures.metric_axis import Quantity
from runner.report.figures.style import RowStyle
from runner.site.content.averages import Point
from runner.site.content.charts import HOVER, apart, axis, faint, said_of, symbol_of
from runner.site.content.panels.marks import Plot, Trace, joined


@dataclass(frozen=True)
class Course:
    """A row's metric along its runs; `partial` is ``3 of 4`` where the other runs failed."""

    points: Sequence[Point]
    partial: str | None = None


def curves_plot(
    quantity: Quantity, name: str, courses: Mapping[str, Course], styles: Mapping[str, RowStyle]
) -> Plot:
    """One metric, called `name`, along the runs of each row."""
    traces: list[Trace] = []
    for row, course in courses.items():
        traces += [*_bands(quantity, row, course.points, styles[row]), _line(row, course, styles[row])]
    return {"name": quantity.titled(name), "traces": traces, "layout": {"yaxis": axis(quantity, name)}}


def curves_chart(plots: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Plots along runs, whose horizontal axis can be chosen."""
    return {"plots": list(plots), "along": ALONG}


def _line(row: str, course: Course, style: RowStyle) -> Trace:
    """The means, broken at the points that are left out."""
    spans = [point.span for point in course.points]
    trace = {
        "type": "scatter", "name": row, "meta": row, "legendgroup": row, "along": _along(course.points),
        "y": [span.mean if span else None for span in spans],
        "marker": {"color": style.colour, "symbol": symbol_of(style), "size": 5},
        "customdata": [said_of(span.lo, span.hi, span.n) if span else "" for span in spans],
        "hovertemplate": HOVER,
    }  # fmt: skip
    return joined(apart(trace, [course.partial] * len(spans)), style) | {"mode": "lines+markers"}


def _bands(quantity: Quantity, row: str, points: Sequence[Point], style: RowStyle) -> Iterator[Trace]:
    """Two lines with the area between them, for each part of the points that is without a gap."""
    for whole, found in groupby(points, key=lambda point: point.span is not None and point.span.n > 1):
        part = list(found) if whole else []
        spans = [point.span for point in part if point.span is not None]
        off = [quantity.errors(span.mean, span.margin) for span in spans]
        ends = [(span.mean - down, span.mean + up) for span, (down, up) in zip(spans, off, strict=True)]
        for place in (0, 1) if part else ():
            yield {
                "type": "scatter", "mode": "lines", "name": row, "legendgroup": row, "showlegend": False,
                "hoverinfo": "skip", "along": _along(part), "y": [end[place] for end in ends],
                "line": {"width": 0, "color": style.colour},
                **({"fill": "tonexty", "fillcolor": faint(style.colour)} if place else {}),
            }  # fmt: skip


def _along(points: Sequence[Point]) -> dict[str, list[float]]:
    """Where the points are, by what they can be drawn against."""
    return {key: [getattr(point, key) for point in points] for key in ALONG}
