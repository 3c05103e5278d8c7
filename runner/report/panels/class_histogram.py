"""Panel `class_histogram`: the classes of a row's images, beside those of the real data."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from runner.report.figures.class_shares import OWN, REAL, classes
from runner.report.figures.metric_axis import SHARE
from runner.report.figures.panel import PanelData, PanelKind, show_missing
from runner.report.figures.published_marks import HALO


def draw_classes(ax: Axes, data: PanelData) -> None:
    """A bar for each class, its 95 % interval over seeds, and a level line for its share in the real data.

    An arrow stands at the upper end of the panel's `limits` where an interval or a bar goes beyond it,
    and ``n = 1`` in the panel of a row of one seed.
    """
    found = classes(data.own_runs)
    if not found:
        show_missing(ax, data.own_runs, "classes")
        return
    spans, real = (
        [data.interval(data.row, data.column, f"{part}{name}") for name in found] for part in (OWN, REAL)
    )
    places = np.arange(len(found))
    heights = np.array([span.mean if span is not None else 0.0 for span in spans])
    off = np.array(
        [SHARE.errors(span.mean, span.margin) if span is not None else (0.0, 0.0) for span in spans]
    )
    colour = data.styles[data.row].colour
    ax.bar(places, heights, width=0.8, color=colour, alpha=0.6)
    # Without caps, and in the colour of the bars: a black cap looks like a share of the real data.
    ax.errorbar(places, heights, yerr=off.T, fmt="none", ecolor=colour, elinewidth=1.2)
    levels = [span.mean if span is not None else 0.0 for span in real]
    ax.hlines(levels, places - 0.45, places + 0.45, color="black", linewidth=1.0, label="real data")
    ax.set_xticks(places, [str(name) for name in found])
    ax.set_ylim(0, data.panel.limits[1] if data.panel.limits is not None else None)
    for place in places[heights + off[:, 1] > ax.get_ylim()[1]]:
        at, effects = ("data", "axes fraction"), [HALO]
        ax.annotate("▴", (place, 0.99), xycoords=at, ha="center", va="top", size=7, path_effects=effects)
    if alone := data.single(max(span.n for span in spans if span is not None)):
        ax.text(0.97, 0.98, alone, transform=ax.transAxes, ha="right", va="top", size=6)
    ax.grid(False, axis="x")
    ax.set_xlabel("class")
    ax.set_ylabel("share")


KINDS = {
    "class_histogram": PanelKind(draw_classes, required=("row",), optional=("limits",), has_intervals=True)
}
