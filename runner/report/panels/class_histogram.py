"""Panel `class_histogram`: the classes of a row's images, beside those of the real data."""

from __future__ import annotations

from matplotlib.axes import Axes

from runner.report.figures.class_shares import REAL, SHARE, classes
from runner.report.figures.panel import PanelData, PanelKind, show_missing


def draw_classes(ax: Axes, data: PanelData) -> None:
    """A bar for each class, its 95 % interval over seeds, and a level line for its share in the real data."""
    found = classes(data.own_runs)
    if not found:
        show_missing(ax, data.own_runs, "classes")
        return
    spans, real = (
        [data.interval(data.row, data.column, f"{part}{name}") for name in found] for part in (SHARE, REAL)
    )
    places = range(len(found))
    heights = [span.mean if span is not None else 0.0 for span in spans]
    margins = [(span.margin or 0.0) if span is not None else 0.0 for span in spans]
    errors = {"linewidth": 0.8, "capsize": 1.5}
    colour = data.styles[data.row].colour
    ax.bar(places, heights, yerr=margins, width=0.8, color=colour, alpha=0.6, error_kw=errors)
    levels = [span.mean if span is not None else 0.0 for span in real]
    left, right = ([place + end for place in places] for end in (-0.45, 0.45))
    ax.hlines(levels, left, right, color="black", linewidth=1.0, label="real data")
    ax.set_xticks(list(places), [str(name) for name in found])
    ax.set_ylim(0, data.panel.limits[1] if data.panel.limits is not None else None)
    ax.grid(False, axis="x")
    ax.set_xlabel("class")
    ax.set_ylabel("share")


KINDS = {
    "class_histogram": PanelKind(draw_classes, required=("row",), optional=("limits",), has_intervals=True)
}
