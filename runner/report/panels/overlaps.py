"""Panel `overlaps`: for each row the distribution P(q) of the overlap of two chains, as of spin glasses."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from runner.report.figure_shape import Role
from runner.report.figures.overlap_shares import BINS, bin_middles, overlap_shares
from runner.report.figures.panel import PanelData, PanelKind, show_missing
from runner.report.figures.partial_means import write_beside

BAND = 0.12
"""Opacity of the band of an interval."""

HEADROOM = 1.15
"""Upper end of the axis over the highest mean: wide intervals of few seeds may end above it."""


def draw_overlaps(ax: Axes, data: PanelData) -> None:
    """A line for each row through the density of q in each bin, mean over seeds, in a band of 95 %."""
    found = {row.row: overlap_shares(data, row.row) for row in data.rows}
    middles, highest = np.array(bin_middles()), 0.0
    rows = [row for row in data.rows if found[row.row]]
    for index, row in enumerate(rows):
        style, spans = data.styles[row.row], found[row.row]
        heights = np.array([span.mean for span in spans]) * BINS / 2
        margins = np.array([span.margin or 0.0 for span in spans]) * BINS / 2
        often = max(1, len(rows) // 2)
        marks = (index % often, often)
        reference = row.role is Role.draws
        ax.plot(middles, heights, **style.look, markevery=marks, zorder=4 if reference else 3, label=row.row)
        lower = (heights - margins).clip(0.0)
        ax.fill_between(
            middles, lower, heights + margins, color=style.colour, alpha=BAND, linewidth=0, zorder=1
        )
        highest = max(highest, float(heights.max()))
        if not reference and (alone := data.single(spans[0].n)):
            write_beside(ax, middles[heights.argmax()], heights.max(), alone)
    if not rows:
        show_missing(ax, data.runs, "overlaps")
        return
    ax.set_xlim(-1.0, 1.0)
    ax.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0])
    ax.set_ylim(0.0, data.panel.limits[1] if data.panel.limits else HEADROOM * highest)
    ax.set(xlabel="overlap q", ylabel="P(q)")


KINDS = {"overlaps": PanelKind(draw_overlaps, optional=("limits",))}
