"""How figures look: the Okabe-Ito palette, one colour, marker and line for each row in every panel."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from runner.report.figure_shape import Role
from runner.report.table_shape import TableShape

SAMPLER_COLOURS = ("#E69F00", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
LineStyle = Literal["-", "--", ":", "-."]
LOOKS: dict[Role, tuple[tuple[str, ...], tuple[str, ...], tuple[LineStyle, ...]]] = {
    Role.sampler: (SAMPLER_COLOURS, ("o", "s", "^", "D", "v", "P"), ("-",)),
    Role.variant: (("#7F7F7F",), ("x", "+", "1", "2", "3", "4"), ("-", "-.", ":")),
    Role.draws: (("black",), ("",), ("--", ":", "-.")),
}
"""Colours, markers and lines that the rows of a role take in turn."""

RC: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 8,
    "legend.title_fontsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "pdf.fonttype": 42,
    "figure.facecolor": "white",
}


@dataclass(frozen=True)
class RowStyle:
    """Colour, marker and line of a row."""

    colour: str
    marker: str
    line: LineStyle

    @property
    def look(self) -> dict[str, Any]:
        """As Matplotlib's arguments."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line}


FLOOR = RowStyle("#7F7F7F", "", "--")
"""The level line of a panel's floor."""


def row_styles(shape: TableShape) -> dict[str, RowStyle]:
    """The style of every row: colours for samplers, grey for variants, black lines for draws."""
    places: Counter[Role] = Counter()
    styles = {}
    for row in shape.rows:
        place = places[row.role]
        places[row.role] += 1
        colours, markers, lines = LOOKS[row.role]
        styles[row.row] = RowStyle(
            colours[place % len(colours)], markers[place % len(markers)], lines[place % len(lines)]
        )
    return styles
