"""Panel `tour_marginals`: length against distance from the best tour, with both margins (EDLP, Figure 13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from runner.report.figures.panel import PanelData, PanelKind, show_missing
from runner.report.figures.style import FLOOR
from runner.report.figures.tour_runs import listed_target, tour_distribution, visited_tours

if TYPE_CHECKING:
    from targets.tours.tour_density import TourDensity

BINS = 40
MARGIN = 0.28
"""Height and width of the margins, as a share of the panel's scatter."""


def draw_tour_marginals(ax: Axes, data: PanelData) -> None:
    """A point for each distinct tour of each seed of the panel's row; bars of both margins beside it.

    Above, the lengths; on the right, in how many positions a tour differs from its seed's own best, which is
    the point at zero. The grey outlines are the target's distribution, where both margins count draws: the
    mismatch is then that of two tours at random rotations, n - 1 on average.
    """
    runs = data.own_runs
    visits = visited_tours(runs, target := listed_target(runs[0].config)) if runs else None
    if visits is None:
        show_missing(ax, runs, "stored visits")
        return
    colour = data.styles[data.row].colour
    costs, probabilities = tour_distribution(target)
    low, high = data.panel.limits or (float(costs.min()), float(costs.max()))
    n = target.cities
    ax.scatter(visits.cost, visits.mismatch, s=4, color=colour, alpha=0.5, linewidths=0, rasterized=True)
    edges = np.linspace(low, high, BINS + 1)
    top, right = n + 0.8, high + 0.04 * (high - low)
    tall, wide = MARGIN * n, MARGIN * (high - low)
    own = np.histogram(visits.cost, bins=edges)[0] / len(visits.cost)
    exact = np.histogram(costs, bins=edges, weights=probabilities)[0]
    peak = max(own.max(), exact.max())
    ax.bar(edges[:-1], tall * own / peak, np.diff(edges), top, align="edge", color=colour, alpha=0.6)
    outline: dict[str, Any] = {"color": FLOOR.colour, "linewidth": 0.9}
    ax.stairs(top + tall * exact / peak, edges, baseline=top, **outline)
    gaps = np.arange(n + 1)
    own = np.array([(visits.mismatch == gap).mean() for gap in gaps])
    exact = mismatch_distribution(target)
    peak = max(own.max(), exact.max())
    ax.barh(gaps, wide * own / peak, 0.8, right, color=colour, alpha=0.6)
    sides = np.arange(n + 2) - 0.5
    ax.stairs(right + wide * exact / peak, sides, baseline=right, orientation="horizontal", **outline)
    ax.set_xlim(low - 0.02 * (high - low), right + 1.04 * wide)
    ax.set_ylim(-0.6, top + 1.04 * tall)
    ax.set_yticks(gaps)
    ax.set_xticks([tick for tick in MaxNLocator(5).tick_values(low, high) if low <= tick <= high])
    ax.set(xlabel="length of a tour", ylabel="positions that differ")


def mismatch_distribution(target: TourDensity) -> np.ndarray:
    """Probability of each mismatch under the target to the tour that is shortest, ``(n + 1,)``.

    The distribution is the same for every rotation of that tour.
    """
    from metrics.applications.tour_mismatch import mismatches  # takes torch

    tours, probabilities = target.tours(), target.tour_probabilities()
    best = tours[probabilities.argmax()]
    gaps = mismatches(tours, best).long()
    found: np.ndarray = np.bincount(gaps.numpy(), probabilities.numpy(), target.cities + 1)
    return found


KINDS = {"tour_marginals": PanelKind(draw_tour_marginals, required=("row",), optional=("limits",))}
