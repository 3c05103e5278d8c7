"""Panels of bars, all rows of a column in one plot: classes of images, eigenvalues of Hessians."""

from __future__ import annotations

from collections.abc import Sequence

from metrics.inference.few_seeds import Interval
from runner.report.figures.class_shares import OWN, REAL, classes
from runner.report.figures.metric_axis import SHARE
from runner.report.figures.panel import PanelData
from runner.report.figures.spectrum_bins import binned, edges, spectrum_intervals
from runner.report.figures.visits import shares
from runner.site.content.charts import HOVER, said_of
from runner.site.content.panels.known import Known
from runner.site.content.panels.marks import Plot, Trace, error_bar


def class_histogram(panels: Sequence[PanelData], known: Known) -> Plot | None:
    """Share of each class in the images of each row, and in the real data."""
    traces: list[Trace] = []
    level: dict[str, float] = {}
    for data in panels:
        found = classes(data.own_runs)
        own, real = (
            {
                str(name): span
                for name in found
                if (span := data.interval(data.row, data.column, f"{part}{name}")) is not None
            }
            for part in (OWN, REAL)
        )
        if own:
            traces.append(_bars(data, data.row, list(own), list(own.values())))
        level = level or {name: span.mean for name, span in real.items()}
    if not traces:
        return None
    if level:
        traces.append(
            {
                "type": "scatter", "mode": "markers", "name": "real data", "meta": "real data",
                "legendgroup": "real data", "x": list(level), "y": list(level.values()), "ink": True,
                "marker": {"symbol": "line-ew-open", "size": 26, "line": {"width": 2}},
                "hovertemplate": "%{meta}, class %{x}<br>share %{y:.4f}<extra></extra>",
            }
        )  # fmt: skip
    return _plot(panels[0], traces, "class", "share", "category")


def spectrum(panels: Sequence[PanelData], known: Known) -> Plot | None:
    """Share of the eigenvalues of the Hessian in each bin, at the draws of each row and under the target."""
    traces: list[Trace] = []
    for data in panels:
        found = shares(data.own_runs)
        if found is None:
            continue
        target = known.states(data.own_runs[0].config)
        ends = edges(target.eigenvalues)
        middles = ((ends[1:] + ends[:-1]) / 2).tolist()
        spans = spectrum_intervals(target.eigenvalues, found, ends)
        if not traces:
            outline = binned(target.eigenvalues, target.probabilities, ends)
            traces.append(
                {
                    "type": "scatter", "mode": "lines", "name": "target", "legendgroup": "target",
                    "x": middles,
                    "y": outline.tolist(), "line": {"shape": "hvh", "width": 1.5}, "ink": True,
                    "hovertemplate": "target, %{x:.3g}<br>share %{y:.4f}<extra></extra>",
                }
            )  # fmt: skip
        traces.append(_bars(data, data.row, middles, spans))
    return _plot(panels[0], traces, "eigenvalue (nats)", "share of eigenvalues", "linear") if traces else None


def _bars(
    data: PanelData, row: str, places: Sequence[str] | Sequence[float], spans: Sequence[Interval]
) -> Trace:
    ends = [SHARE.errors(span.mean, span.margin) for span in spans]
    return {
        "type": "bar", "name": row, "meta": row, "legendgroup": row, "offsetgroup": row,
        "x": list(places), "y": [span.mean for span in spans], "error_y": error_bar(ends),
        "marker": {"color": data.styles[row].colour},
        "customdata": [said_of(span.lo, span.hi, span.n) for span in spans], "hovertemplate": HOVER,
    }  # fmt: skip


def _plot(data: PanelData, traces: list[Trace], across: str, up: str, kind: str) -> Plot:
    layout = {
        "xaxis": {"title": {"text": across}, "type": kind},
        "yaxis": {"title": {"text": up}, "rangemode": "tozero"},
        "barmode": "group",
    }
    return {"name": up, "column": data.column, "traces": traces, "layout": layout, "log": "y"}
