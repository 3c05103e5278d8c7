"""Panels `tour_marginals`, all rows of a column in one plot: lengths against distances from the best tour."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runner.report.figures.panel import PanelData
from runner.report.figures.style import GREY
from runner.site.content.panels.known import Known
from runner.site.content.panels.marks import Plot, Trace

LARGEST = 18
"""Diameter of the largest disc, in pixels."""

MAIN, BESIDE = (0.0, 0.74), (0.8, 1.0)
"""Shares of the plot for the discs and for the margins."""


def tour_marginals(panels: Sequence[PanelData], known: Known) -> Plot | None:
    """A disc for each bin of length and number of positions that differ, and both margins beside it.

    Each distinct tour of each seed counts once. The grey lines are the target's distribution.
    """
    panels = [data for data in panels if any(run.summary is not None for run in data.own_runs)]
    if not panels:
        return None
    from runner.report.figures.tour_runs import listed_target, visited_tours

    config = panels[0].own_runs[0].config
    target, wanted = listed_target(config), known.tours(config)
    ends, gaps = np.array(wanted["ends"]), np.arange(wanted["cities"] + 2) - 0.5
    traces: list[Trace] = []
    for data in panels:
        visits = visited_tours(data.own_runs, target)
        if visits is None:
            continue
        counts = np.histogram2d(visits.cost, visits.mismatch, (ends, gaps))[0] / len(visits.cost)
        seeds = sum(run.summary is not None for run in data.own_runs)
        traces += _row(data, counts, ends, f"n = {seeds}")
    if not traces:
        return None
    middles = ((ends[1:] + ends[:-1]) / 2).tolist()
    places = list(range(len(gaps) - 1))
    traces += [
        _step("target", GREY, middles, wanted["lengths"], "y2", "dot") | {"showlegend": True},
        _step("target", GREY, wanted["mismatches"], places, "x2", "dot"),
    ]
    beside = {"domain": BESIDE, "title": {"text": "share"}}
    layout = {
        "xaxis": {"title": {"text": "length of a tour"}, "domain": MAIN},
        "yaxis": {"title": {"text": "positions that differ"}, "domain": MAIN},
        "xaxis2": beside, "yaxis2": beside,
    }  # fmt: skip
    return {"name": "tours", "column": panels[0].column, "traces": traces, "layout": layout, "log": ""}


def _row(data: PanelData, counts: np.ndarray, ends: np.ndarray, seeds: str) -> list[Trace]:
    """The discs of a row, ``(lengths, gaps)`` of shares, and its two margins."""
    colour = data.styles[data.row].colour
    lengths, gaps = np.nonzero(counts)
    found = counts[lengths, gaps]
    middles = (ends[1:] + ends[:-1]) / 2
    said = [
        f"length {ends[place]:.3g} to {ends[place + 1]:.3g}<br>{share:.2%} of its tours, {seeds}"
        for place, share in zip(lengths, found, strict=True)
    ]
    size = {"sizemode": "area", "sizemin": 2, "sizeref": float(2 * counts.max() / LARGEST**2)}
    discs = {
        "type": "scatter", "mode": "markers", "legendgroup": data.row, "name": data.row, "meta": data.row,
        "x": middles[lengths].tolist(), "y": gaps.tolist(),
        "marker": {"color": colour, "opacity": 0.55, "size": found.tolist(), **size},
        "customdata": said,
        "hovertemplate": "%{meta}<br>%{y} positions differ, %{customdata}<extra></extra>",
    }  # fmt: skip
    across, up = counts.sum(1).tolist(), counts.sum(0).tolist()
    return [
        discs,
        _step(data.row, colour, middles.tolist(), across, "y2"),
        _step(data.row, colour, up, list(range(len(up))), "x2"),
    ]


def _step(
    row: str, colour: str, x: Sequence[float], y: Sequence[float], axis: str, dash: str = "solid"
) -> Trace:
    """A step line of the margin whose shares are along `axis`."""
    return {
        "type": "scatter", "mode": "lines", "name": row, "legendgroup": row, "showlegend": False,
        "x": list(x), "y": list(y), f"{axis[0]}axis": axis,
        "line": {"color": colour, "width": 1.5, "shape": "hvh" if axis == "y2" else "vhv", "dash": dash},
        "hovertemplate": f"{row}<br>%{{x:.4g}}, %{{y:.4g}}<extra></extra>",
    }  # fmt: skip
