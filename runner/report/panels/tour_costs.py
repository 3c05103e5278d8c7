"""Panel `tour_costs`: how the lengths of a row's tours are spread, over those of the target itself."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from runner.report.figure_shape import Role
from runner.report.figures.metric_axis import metric_label
from runner.report.figures.panel import PanelData, PanelKind, name_rows, show_missing
from runner.report.figures.reference_lines import level
from runner.report.figures.style import FLOOR
from runner.report.figures.tour_runs import listed_target, quantiles, tour_distribution, visited_tours
from runner.report.table_shape import Direction

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
QUARTILES, WHISKERS = "quartiles", "5 to 95 %"
BOX = f"box: median and {QUARTILES}, whiskers {WHISKERS}, all seeds together"
DISTINCT = "tour_cost_distinct"


def draw_tour_costs(ax: Axes, data: PanelData) -> None:
    """A box for each row, quartiles with whiskers from 5 to 95 %, over all its seeds.

    With the metric `tour_cost_distinct` every tour that a seed visited counts once, as EDLP has it; with any
    other all draws count. The bands and the line are the same levels and the median under the target.
    """
    rows = [row for row in data.rows if row.role is not Role.draws]
    once, drawn = data.metric.metric == DISTINCT, False
    if data.runs:
        target = listed_target(data.runs[0].config)
        low, first, middle, third, high = quantiles(*tour_distribution(target), LEVELS)
        bands = ((low, first, 0.12, WHISKERS), (third, high, 0.12, WHISKERS), (first, third, 0.3, QUARTILES))
        for *ends, alpha, name in bands:
            ax.axvspan(*ends, color=FLOOR.colour, alpha=alpha, linewidth=0, label=f"{name} of the target")
        level(ax, middle, FLOOR, "median of the target", vertical=True)
        for place, row in enumerate(rows):
            visits = visited_tours(data.results.at(row.row, data.column), target)
            if visits is None:
                continue
            weights = np.full_like(visits.share, 1.0) if once else visits.share
            values = quantiles(visits.cost, weights, LEVELS)
            box = dict(zip(("whislo", "q1", "med", "q3", "whishi"), values, strict=True))
            colour = data.styles[row.row].colour
            look: dict[str, Any] = {"facecolor": colour, "alpha": 0.55, "linewidth": 0.8}
            if not drawn:
                _name_boxes(ax)
            ax.bxp(
                [box], positions=[place], widths=0.55, orientation="horizontal", showfliers=False,
                patch_artist=True, boxprops=look, medianprops={"color": "black"},
            )  # fmt: skip
            drawn = True
    if not drawn:
        show_missing(ax, data.runs, "stored visits")
    name_rows(ax, rows)
    text = f"length of a tour, {'each distinct one once' if once else 'all draws'}"
    # A sampler should have the target's lengths, of which shorter ones are no better.
    undirected = replace(data.quantity, direction=Direction.none)
    ax.set_xlabel(metric_label(data.metric, undirected, text))
    if data.panel.limits is not None:
        ax.set_xlim(*data.panel.limits)


def _name_boxes(ax: Axes) -> None:
    """Has the legend say what boxes are, by one of no colour that shows nothing."""
    look: dict[str, Any] = {"facecolor": "none", "edgecolor": "black", "linewidth": 0.8}
    ax.add_patch(Rectangle((math.nan, math.nan), 0.0, 0.0, **look, label=BOX))


KINDS = {
    "tour_costs": PanelKind(draw_tour_costs, required=("metric",), optional=("limits",), names_rows=True)
}
