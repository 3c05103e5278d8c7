"""Panels `overlaps`: the distribution of the overlap of two chains, a line for each row."""

from __future__ import annotations

from collections.abc import Sequence

from runner.report.figures.metric_axis import Quantity
from runner.report.figures.overlap_shares import bin_middles, overlap_shares
from runner.report.figures.panel import PanelData
from runner.site.content.panels.known import Known
from runner.site.content.panels.marks import Plot, joined, points

SHARES = Quantity("", 0.0, 1.0)


def overlaps(panels: Sequence[PanelData], known: Known) -> Plot | None:
    """Share of each bin of the overlap q of two chains, for each row."""
    (data,) = panels
    found = {row.row: spans for row in data.rows if (spans := overlap_shares(data, row.row))}
    traces = [
        joined(points(row, data.styles[row], bin_middles(), spans, SHARES), data.styles[row])
        for row, spans in found.items()
    ]
    layout = {
        "xaxis": {"title": {"text": "overlap q"}, "range": [-1, 1]},
        "yaxis": {"title": {"text": "share of overlaps"}, "rangemode": "tozero"},
    }
    plot = {
        "name": "share of overlaps",
        "column": data.column,
        "traces": traces,
        "layout": layout,
        "log": "y",
    }
    return plot if traces else None
