"""Grey lines of references, named in the legend or, where that is long, at the line's end."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from runner.report.figures.style import GREY, RowStyle

MOST_ENTRIES = 6
"""Entries of a legend beyond which references are named in the panels."""

REFERENCE = "reference "
"""What the group id of a reference's line begins with; its name follows."""


def mark_reference(line: Line2D, name: str) -> None:
    """Says that `line` is the reference `name`."""
    line.set_gid(REFERENCE + name)


def level(ax: Axes, value: float, style: RowStyle, name: str, *, vertical: bool = False) -> None:
    """A level line across the panel, behind the data."""
    draw = ax.axvline if vertical else ax.axhline
    mark_reference(draw(value, color=style.colour, linestyle=style.line, zorder=1), name)


def name_at_ends(ax: Axes) -> set[str]:
    """Writes the names of the references of `ax` at the ends of their lines; returns the names.

    A name is on the side that is nearer to the panel's edge, where fewer lines of samplers are.
    """
    named = set()
    for line in ax.lines:
        gid = str(line.get_gid())
        if not gid.startswith(REFERENCE):
            continue
        name = gid.removeprefix(REFERENCE)
        ax.margins(y=0.1)
        upright = line.get_transform() == ax.get_xaxis_transform(which="grid")
        x, y = np.asarray(line.get_xydata())[-1]
        height = ax.transAxes.inverted().transform(line.get_transform().transform((x, y)))[1]
        above = height > 0.5 and not upright
        ax.annotate(
            name, (x, y), xycoords=line.get_transform(), textcoords="offset points",
            xytext=(-1, 1.5 if above else -1.5),
            size=6, color=GREY, ha="right", va="bottom" if above else "top", rotation=90 if upright else 0,
            zorder=5,
        )  # fmt: skip
        named.add(name)
    return named
