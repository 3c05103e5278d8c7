"""Published values in a panel: hollow markers in the colour of their row."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from runner.report.figures.panel import PanelData
from runner.report.figures.style import RowStyle, filled_marker

PUBLISHED = "published"
"""What the group id of a published marker begins with; the version follows."""

HALO = withStroke(linewidth=2.4, foreground="white")
"""Keeps a hollow marker visible on a cloud of points of its own colour."""

NEWEST, STEP = 6.5, 2.5
"""Size of the newest version's marker, and how much smaller an earlier one is: equal values stay visible."""


def published_values(data: PanelData, row: str, column: str) -> list[tuple[str, float, float]]:
    """Version, value in the metric's own unit, and marker size, of each number printed beside ours."""
    ages = {version: age for age, version in enumerate(reversed(data.metric.published))}
    return [
        (version, value, max(NEWEST - ages[version] * STEP, 2.5))
        for version, value in data.published(row, column)
    ]


def mark_published(ax: Axes, style: RowStyle, x: float, y: float, version: str, size: float) -> None:
    """Draws the published value of `version` at (x, y)."""
    ax.plot(
        x, y, marker=filled_marker(style), markersize=size, mfc="none", mec=style.colour, mew=0.9,
        linestyle="none", zorder=4, gid=f"{PUBLISHED} {version}", path_effects=[HALO],
    )  # fmt: skip


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
