"""Means that are not of all runs or not of several: ``3 of 5`` or ``n = 1`` is written beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from runner.report.figures.style import RowStyle, filled_marker

PARTIAL = "partial mean"
"""The group id of such a marker."""

MEANING = "mean of only the runs with a value"
"""What the legend says of it."""

FILL = {"fillstyle": "left", "markerfacecoloralt": "white"}
HALF = FILL | {"linestyle": "none"}


def half_filled(style: RowStyle) -> dict[str, Any]:
    """The look of a row whose means are such, as Matplotlib's arguments."""
    return {**style.look, **FILL, "marker": filled_marker(style)}


def mark_partial(ax: Axes, style: RowStyle, x: float, y: float, note: str) -> None:
    """Draws a mean of only the runs with a value at (x, y), and writes beside it of how many it is."""
    ax.plot(x, y, marker=filled_marker(style), color=style.colour, zorder=4, gid=PARTIAL, **HALF)  # type: ignore[arg-type]
    write_beside(ax, x, y, note)


def write_beside(ax: Axes, x: float, y: float, note: str) -> None:
    """Writes above the mean at (x, y) of how many runs it is."""
    ax.annotate(note, (x, y), (0, 3), textcoords="offset points", ha="center", va="bottom", size=5, zorder=4)


def partial_handles(axes: list[Axes]) -> Iterator[Line2D]:
    """The legend's entry, if there is such a marker in `axes`."""
    if any(line.get_gid() == PARTIAL for ax in axes for line in ax.lines):
        yield Line2D([], [], marker="o", color="black", label=MEANING, **HALF)  # type: ignore[arg-type]
