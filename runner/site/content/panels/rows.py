"""Panels with a line a row: every seed's value, and how the lengths of tours are spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from runner.report.figure_shape import Role
from runner.report.figures.panel import PanelData
from runner.report.table_shape import Direction, RowShape
from runner.site.content.charts import apart, axis, faint, said_of, symbol_of
from runner.site.content.panels.known import Known
from runner.site.content.panels.marks import Plot, Trace, error_bar, printed, reference

SPREAD = 0.28
"""How far the points of a row lie off its line, in rows."""


def repeats(panels: Sequence[PanelData], known: Known) -> Plot | None:
    """A point for each seed, and the mean with its interval; the panel's floor is a line."""
    (data,) = panels
    quantity = known.quantity(data.metric.metric)
    traces, empty = list[Trace](), list[dict[str, Any]]()
    for place, row in enumerate(data.rows):
        values, span = data.results.values(row.row, data.column, data.metric.metric), None
        if values:
            span = data.interval(row.row, data.column)
        if span is None:
            empty.append(_in_row(place, data.why_empty(row.row)))
            continue
        seeds, style = sorted(values), data.styles[row.row]
        note = data.partial(row.row, data.column)
        # The golden ratio spreads successive points evenly.
        heights = place + SPREAD * (2 * np.modf(np.arange(len(seeds)) * 0.618034)[0] - 1)
        own = {"type": "scatter", "mode": "markers", "legendgroup": row.row, "meta": row.row}
        traces.append(
            {
                **own, "name": row.row, "x": [values[seed] for seed in seeds], "y": heights.tolist(),
                "marker": {"color": style.colour, "size": 6, "opacity": 0.6},
                "customdata": seeds,
                "hovertemplate": "%{meta}, seed %{customdata}<br>%{x:.8~g}<extra></extra>",
            }
        )  # fmt: skip
        mean = {
            **own, "name": f"{row.row}, mean", "x": [span.mean], "y": [place],
            "showlegend": False, "ink": True,
            "error_x": error_bar([quantity.errors(span.mean, span.margin)]),
            "marker": {
                "symbol": symbol_of(style) if note else "line-ns-open", "size": 12, "line": {"width": 2}
            },
            "customdata": [said_of(span.lo, span.hi, span.n)],
            "hovertemplate": "%{meta}, mean<br>%{x:.8~g}<br>%{customdata}<extra></extra>",
        }  # fmt: skip
        traces.append(apart(mean, [note]))
        traces += [
            printed(row.row, style, version, [value], [place])
            for version, value in data.published(row.row, data.column)
        ]
    if not traces:
        return None
    if data.floor is not None:
        traces.append(reference(data.floor_label, [data.floor] * 2, [-0.5, len(data.rows) - 0.5]))
    name = data.panel.x_label or data.metric.name
    return {
        "name": quantity.titled(name),
        "column": data.panel.title,
        "traces": traces,
        "layout": _layout(data.rows, axis(quantity, name)) | {"annotations": empty},
        "log": "x",
    }


def tour_costs(panels: Sequence[PanelData], known: Known) -> Plot | None:
    """A box for each row over all its seeds: quartiles and 5 to 95 %; behind it those of the target.

    With the metric `tour_cost_distinct` every tour that a seed visited counts once; with any other all draws.
    """
    (data,) = panels
    if not any(run.summary is not None for run in data.runs):
        return None
    from runner.report.figures.tour_runs import listed_target, quantiles, visited_tours
    from runner.report.panels.tour_costs import DISTINCT, LEVELS

    rows = [row for row in data.rows if row.role is not Role.draws]
    target, traces = listed_target(data.runs[0].config), list[Trace]()
    for place, row in enumerate(rows):
        runs = data.results.at(row.row, data.column)
        if (visits := visited_tours(runs, target)) is None:
            continue
        once = data.metric.metric == DISTINCT
        found = quantiles(visits.cost, np.full_like(visits.share, 1.0) if once else visits.share, LEVELS)
        seeds = sum(run.summary is not None for run in runs)
        traces += _box(row.row, data.styles[row.row].colour, place, found, f"n = {seeds}")
    if not traces:
        return None
    levels = known.tours(data.runs[0].config)["quantiles"]
    quantity, name = known.quantity(data.metric.metric), "length of a tour"
    # A sampler should have the target's lengths, of which shorter ones are no better.
    layout = _layout(rows, axis(replace(quantity, direction=Direction.none), name))
    layout["shapes"] = [
        {
            "type": "rect", "yref": "paper", "x0": levels[place], "x1": levels[-1 - place], "y0": 0, "y1": 1,
            "layer": "below", "line": {"width": 0}, "fillcolor": f"rgba(127,127,127,{shade})",
        }
        for place, shade in enumerate((0.12, 0.2))
    ]  # fmt: skip
    traces.append(reference("target, median", [levels[2]] * 2, [-0.5, len(rows) - 0.5]))
    plot = {"name": quantity.titled(name), "column": data.panel.title, "traces": traces, "layout": layout}
    return plot | {"log": ""}


def _box(row: str, colour: str, place: int, levels: Sequence[float], seeds: str) -> list[Trace]:
    """A box whose ends are `levels`, and a mark at its middle that says them."""
    names = ("lowerfence", "q1", "median", "q3", "upperfence")
    shown = {"legendgroup": row, "name": row, "meta": row, "y": [place]}
    box = {
        **shown, **{name: [level] for name, level in zip(names, levels, strict=True)}, "type": "box",
        "orientation": "h", "hoverinfo": "skip", "line": {"color": colour, "width": 1.5},
        "fillcolor": faint(colour), "width": 0.55,
    }  # fmt: skip
    quartiles = f"quartiles {levels[1]:.4g} to {levels[3]:.4g}, 5 to 95 %: {levels[0]:.4g} to {levels[4]:.4g}"
    mark = {
        **shown, "type": "scatter", "mode": "markers", "x": [levels[2]], "showlegend": False,
        "marker": {"color": colour, "size": 12, "symbol": "line-ns-open", "line": {"width": 3}},
        "hovertemplate": f"%{{meta}}<br>median %{{x:.4g}}<br>{quartiles}<br>{seeds}<extra></extra>",
    }  # fmt: skip
    return [box, mark]


def _in_row(place: int, said: str) -> dict[str, Any]:
    """A note in the line of a row that is empty."""
    at = {"x": 0.02, "xref": "paper", "xanchor": "left", "y": place, "yref": "y"}
    return {**at, "text": said, "showarrow": False}


def _layout(rows: Sequence[RowShape], across: dict[str, Any]) -> dict[str, Any]:
    """The names of rows up the plot, the first one at the top."""
    names = [row.row for row in rows]
    return {
        "xaxis": across,
        "yaxis": {"tickvals": list(range(len(names))), "ticktext": names, "range": [len(names) - 0.5, -0.5]},
    }
