"""Panel `overlaps`: for each row the distribution of the overlap |q| of two chains, as of spin glasses."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from runner.report.figures.overlap_shares import BINS, bin_middles, overlap_shares
from runner.report.figures.panel import PanelData, PanelKind, show_missing


def draw_overlaps(ax: Axes, data: PanelData) -> None:
    """A line of steps for each row: the density of |q|, mean over seeds, with 95 % intervals over seeds."""
    found = {row.row: overlap_shares(data, row.row) for row in data.rows}
    middles, edges = bin_middles(), np.linspace(0.0, 1.0, BINS + 1)
    for row, spans in found.items():
        if not spans:
            continue
        style = data.styles[row]
        heights = [BINS * span.mean for span in spans]
        margins = [BINS * (span.margin or 0.0) for span in spans]
        ax.stairs(heights, edges, baseline=None, color=style.colour, linewidth=1.2, label=row)
        ax.errorbar(middles, heights, yerr=margins, fmt="none", ecolor=style.colour, elinewidth=0.8)
    if not any(found.values()):
        show_missing(ax, data.runs, "overlaps")
        return
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, data.panel.limits[1] if data.panel.limits else None)
    ax.set(xlabel="overlap |q|", ylabel="density")


KINDS = {"overlaps": PanelKind(draw_overlaps, optional=("limits",))}
