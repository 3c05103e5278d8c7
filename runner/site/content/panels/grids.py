"""Panels of cells: visits to the cells of a grid, and shares of the states of a small binary target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from metrics.inference.few_seeds import interval
from runner.report.figures.panel import PanelData
from runner.report.figures.visits import WIDEST_GAP, counts, pooled, shares
from runner.site.content.charts import said_of
from runner.site.content.panels.known import ExactStates, Known
from runner.store.arrays.pictures import cividis

Plot = dict[str, Any]

BLUES = ("#f7fbff", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b")
ORANGE_TO_PURPLE = (
    "#7f3b08", "#b35806", "#e08214", "#fdb863", "#fee0b6", "#f7f7f7", "#d8daeb", "#b2abd2", "#8073ac",
    "#542788", "#2d004b",
)  # fmt: skip
"""The colours of the same panels in PNG: matplotlib's cividis, Blues and PuOr."""

SHADES = 17
"""Colours of cividis that are told: its scale goes by the square root."""


def heat_map(panels: Sequence[PanelData], known: Known) -> Plot | None:
    """Share of draws in each cell of a grid, or its probability where the panel has no row."""
    (data,) = panels
    if not data.runs:
        return None
    wanted = known.grid(data.runs[0].config)
    share = wanted if data.panel.row is None else pooled(data.own_runs)
    if share is None:
        return None
    places = np.linspace(0.0, 1.0, SHADES)
    scale = [
        [float(place) ** 2, f"rgb({red:.0f},{green:.0f},{blue:.0f})"]
        for place, (red, green, blue) in zip(places, cividis(places), strict=True)
    ]
    what = "probability" if data.panel.row is None else f"share of the draws{_seeds(data)}"
    cells = {
        "z": [[float(f"{value:.3g}") for value in line] for line in share.reshape(wanted.shape).T],
        "colorscale": scale, "zmin": 0.0, "zmax": float(wanted.max()),
        "hovertemplate": f"{data.panel.title}<br>cell (%{{x}}, %{{y}})<br>{what}: %{{z:.3g}}<extra></extra>",
    }  # fmt: skip
    layout = {
        "xaxis": {"title": {"text": "first coordinate"}, "constrain": "domain"},
        "yaxis": {"title": {"text": "second coordinate"}, "scaleanchor": "x", "constrain": "domain"},
    }
    return _plot(data, what.partition(",")[0], cells, layout)


def state_shares(panels: Sequence[PanelData], known: Known) -> Plot | None:
    """Share of draws in each state, mean over seeds, or its probability where the panel has no row."""
    (data,) = panels
    if not data.runs:
        return None
    target = known.states(data.runs[0].config)
    found = None if data.panel.row is None else shares(data.own_runs)
    if found is None and data.panel.row is not None:
        return None
    top = data.panel.limits[1] if data.panel.limits else float(target.probabilities.max())
    mean = target.probabilities if found is None else found.mean(0)
    return _states(data, target, mean, found, (0.0, top), BLUES)


def state_gaps(panels: Sequence[PanelData], known: Known) -> Plot | None:
    """The same share less the target's probability."""
    (data,) = panels
    found = shares(data.own_runs)
    if found is None:
        return None
    target = known.states(data.runs[0].config)
    end = data.panel.limits[1] if data.panel.limits else WIDEST_GAP
    return _states(data, target, found.mean(0) - target.probabilities, found, (-end, end), ORANGE_TO_PURPLE)


def _states(
    data: PanelData,
    target: ExactStates,
    values: np.ndarray,
    found: np.ndarray | None,
    limits: tuple[float, float],
    colours: Sequence[str],
) -> Plot:
    """A cell a state, the first half of its bits down and the second half across."""
    down = target.bits // 2
    across = target.bits - down
    letters = {state: letter for letter, states in target.named.items() for state in states}
    # No sign where all three digits are zero.
    rounded = np.round(values, 3) + 0.0
    texts = [f"{letters.get(state, '')} {value:.3f}".strip() for state, value in enumerate(rounded)]
    said = [_said(target, state, found) for state in range(len(values))]
    shape = (2**down, 2**across)
    cells = {
        "x": [f"{place:0{across}b}" for place in range(shape[1])],
        "y": [f"{place:0{down}b}" for place in range(shape[0])],
        "z": values.reshape(shape).tolist(),
        "text": np.array(texts).reshape(shape).tolist(), "texttemplate": "%{text}",
        "customdata": np.array(said).reshape(shape).tolist(),
        "colorscale": [[place / (len(colours) - 1), each] for place, each in enumerate(colours)],
        "zmin": limits[0], "zmax": limits[1],
        "hovertemplate": f"{data.panel.title}<br>%{{customdata}}<extra></extra>",
    }  # fmt: skip
    named = "; F flat, S sharp" if letters else ""
    layout = {
        "xaxis": {"title": {"text": f"last bits{named}"}, "type": "category"},
        "yaxis": {"title": {"text": "first bits"}, "type": "category", "autorange": "reversed"},
    }
    return _plot(data, "share less probability" if limits[0] < 0.0 else "share of states", cells, layout)


def _said(target: ExactStates, state: int, found: np.ndarray | None) -> str:
    """A state, its share with the interval over seeds, and its probability."""
    own = f"state {state:0{target.bits}b}"
    if found is not None and (span := interval(list(found[:, state]))) is not None:
        own += f"<br>share {span.mean:.4f}, {said_of(span.lo, span.hi, span.n)}"
    return f"{own}<br>probability {target.probabilities[state]:.4f}"


def _seeds(data: PanelData) -> str:
    found = counts(data.own_runs)
    return "" if found is None else f", n = {len(found)}"


def _plot(data: PanelData, name: str, cells: dict[str, Any], layout: dict[str, Any]) -> Plot:
    bar = {"thickness": 12, "outlinewidth": 0, "exponentformat": "power"}
    trace = {"type": "heatmap", "name": name, "colorbar": bar, **cells}
    label = f"{data.panel.row or 'target'}, {data.column}"
    return {"name": name, "column": label, "traces": [trace], "layout": layout, "log": "", "square": True}
