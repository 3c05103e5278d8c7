"""Grey lines of references, named in the legend or, where that is long, beside the panel at their ends."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from runner.report.figures.style import GREY, RowStyle

MOST_ENTRIES = 6
"""Entries of a legend beyond which references are named in the panels."""

LABEL = 0.15
"""Room for a label of two lines as a share of the panel's height, or for one line of its width, about."""

TEXT: dict[str, Any] = {"size": 6, "color": GREY}

REFERENCE = "reference "
"""What the group id of a reference's line begins with; its name follows."""


def mark_reference(line: Line2D, name: str) -> None:
    """Says that `line` is the reference `name`."""
    line.set_gid(REFERENCE + name)


def drawn_references(axes: Iterable[Axes]) -> dict[str, Line2D]:
    """The lines of references that `axes` have, by name."""
    lines = [line for ax in axes for line in ax.lines if str(line.get_gid()).startswith(REFERENCE)]
    return {str(line.get_gid()).removeprefix(REFERENCE): line for line in lines}


def level(ax: Axes, value: float, style: RowStyle, name: str, *, vertical: bool = False) -> None:
    """A level line across the panel, behind the data."""
    draw = ax.axvline if vertical else ax.axhline
    mark_reference(draw(value, color=style.colour, linestyle=style.line, zorder=1), name)


def name_at_ends(ax: Axes) -> set[str]:
    """Writes the names of the references of `ax` beside the panel, where their lines end; returns the names.

    Lines that end at one height share one label.
    """
    ax.autoscale_view()
    ends: list[tuple[float, Line2D, list[str]]] = []
    for line in ax.lines:
        name = str(line.get_gid())
        if not name.startswith(REFERENCE):
            continue
        name, upright, height = name.removeprefix(REFERENCE), _upright(ax, line), _place(ax, line)[1]
        near = [names for other, drawn, names in ends if not upright and abs(other - height) < LABEL]
        if near:
            near[0].append(name)
        else:
            ends.append((math.inf if upright else height, line, [name]))
    for height, line, names in ends:
        x, y = _last(line)
        if math.isinf(height):
            # Left of the line there may be the axis.
            side = "left" if _place(ax, line)[0] < LABEL else "right"
            ax.text(x, 0.98, names[0], transform=line.get_transform(), rotation=90, ha=side, va="top", **TEXT)
        else:
            text = names[0].replace(" ", "\n") if len(names) == 1 else ",\n".join(names)
            ax.text(1.02, y, text, transform=ax.get_yaxis_transform(), va="center", **TEXT)
    return {name for _, _, names in ends for name in names}


def _place(ax: Axes, line: Line2D) -> tuple[float, float]:
    """Where the last point of `line` is, as shares of the panel's width and height."""
    across, up = ax.transAxes.inverted().transform(line.get_transform().transform(_last(line)))
    return float(across), float(up)


def _last(line: Line2D) -> np.ndarray:
    """The last point of `line` (2,) that has a place: a line that is broken may end with none."""
    points = np.asarray(line.get_xydata(), float)
    return np.asarray(points[np.isfinite(points).all(axis=1)][-1])


def _upright(ax: Axes, line: Line2D) -> bool:
    return bool(line.get_transform() == ax.get_xaxis_transform(which="grid"))
