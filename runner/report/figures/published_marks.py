"""Published values in a panel: hollow markers in the colour of their row, below our means."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from runner.report.figures.panel import PanelData
from runner.report.figures.style import RowStyle, filled_marker

PUBLISHED = "published"
"""What the group id of a published marker begins with; the version follows."""

HALO = withStroke(linewidth=2.4, foreground="white")
"""Keeps a sign visible on a cloud of points of its own colour."""

NEWEST, STEP = 8.0, 2.2
"""Size of the newest version's marker, and how much smaller an earlier one is.

Of two versions the marker of the earlier goes around that of a mean: equal values stay visible.
"""

ASIDE = 0.45
"""Width of the markers of a column that stand side by side, as a share of the way to the next column."""

SMALL, SMALL_MEAN = 0.75, {"markersize": 3.0, "markeredgewidth": 0.5}
"""Size of a published marker among such, as a share of its own, and the look of our means."""

CLOUD, MEANS = 1, 2
"""The layers of points of single seeds and of our means; published values lie between them."""


def published_values(data: PanelData, row: str, column: str) -> list[tuple[str, float, float]]:
    """Version, value in the metric's own unit, and marker size, of each number printed beside ours."""
    ages = {version: age for age, version in enumerate(reversed(data.metric.published))}
    return [
        (version, value, max(NEWEST - ages[version] * STEP, 2.5))
        for version, value in data.published(row, column)
    ]


def side_by_side(data: PanelData, places: Sequence[float]) -> tuple[Callable[[str, float], float], bool]:
    """Where the marks of a row stand beside those of others, so that all published numbers are seen.

    Args:
        places: of the columns on the horizontal axis, ascending.

    Returns:
        A function of a row and a place that gives the place of its marks, and whether any differs from it.
    """
    columns, log = data.panel.columns, data.panel.log_x and min(places, default=0.0) > 0
    rows = [row.row for row in data.rows if any(data.published(row.row, label) for label in columns)]
    gaps = np.diff(np.log(places) if log else places)
    width = ASIDE * float(gaps.min()) if len(gaps) and len(rows) > 1 else 0.0
    off = {row: (place / max(len(rows) - 1, 1) - 0.5) * width for place, row in enumerate(rows)}

    def beside(row: str, place: float) -> float:
        return place * math.exp(off.get(row, 0.0)) if log else place + off.get(row, 0.0)

    return beside, width > 0


def mark_published(ax: Axes, style: RowStyle, x: float, y: float, version: str, size: float) -> None:
    """Draws the published value of `version` at (x, y), in a halo that hides no other published value."""
    shape: dict[str, Any] = {"marker": filled_marker(style), "ms": size, "mfc": "none", "ls": "none"}
    halo, stroke = CLOUD + 0.3 * (MEANS - CLOUD), CLOUD + 0.6 * (MEANS - CLOUD)
    ax.plot(x, y, mec="white", mew=2.4, zorder=halo, **shape)
    ax.plot(x, y, mec=style.colour, mew=0.9, zorder=stroke, gid=f"{PUBLISHED} {version}", **shape)


def published_handles(axes: list[Axes]) -> Iterator[Line2D]:
    """A legend entry for each version that has a marker in `axes`."""
    drawn = dict.fromkeys(str(line.get_gid()) for ax in axes for line in ax.lines)
    versions = sorted((gid for gid in drawn if gid.startswith(PUBLISHED)), reverse=True)
    sizes = {
        str(line.get_gid()): line.get_markersize()
        for ax in axes
        for line in ax.lines
        if line.get_gid() in versions
    }
    for gid in versions:
        label = gid.removesuffix(" paper").replace(" ", ", ", 1)
        yield Line2D(
            [], [], marker="o", mfc="none", mec="black", mew=0.9, ls="none", ms=sizes[gid], label=label
        )
