"""How figures look: colour and marker of a row are those of its sampler, references are grey lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from omegaconf import OmegaConf

from runner.report.figure_shape import Role
from runner.report.figures.sampler_looks import LOOKS, look_of
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape

Choice = TypeVar("Choice")

GREY = "#7F7F7F"
LineStyle = Literal["-", "--", ":", "-."] | tuple[float, tuple[float, ...]]
LINES: tuple[LineStyle, ...] = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
VARIANT_MARKERS = ("s", "^", "D", "v", "X", "o", "P", "<", "p", ">", "*", "d", "h")
"""Lines of the rows of one colour, in turn, and the markers of all rows of a sampler but its first.

All have an area: a stroke is lost on the bar of an interval.
"""

DARKEST = 0.6
"""How much black the colour of the last row of a sampler has, from 0 to 1; that of the first has none."""

WITH_SAMPLER = (None, "pcd", "cd", "kernel")
"""Values of ``task.method`` that say what is done with a sampler; others stand in its place."""

REFERENCE_LINES: tuple[LineStyle, ...] = ("--", ":", (0, (6, 2, 1, 2, 1, 2)))
"""Grey lines of reference draws: the exact ones first; `FLOOR` has another."""
UNIFORM = "uniform_draws"

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
    "ps.fonttype": 42,
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


def filled_marker(style: RowStyle) -> str:
    """The row's marker, a circle where it has none."""
    return style.marker or "o"


FLOOR = RowStyle(GREY, "", "-.")
"""The level line of a panel's floor."""


def row_styles(shape: TableShape, results: Results) -> dict[str, RowStyle]:
    """The style of every row, by the sampler that its runs have: the order of rows decides no colour.

    The first row of a sampler in the table, competing samplers before variants, has its colour and marker;
    the others have its colour, darker from row to row, and markers that no sampler of the colour has. Of rows
    of one colour, as those of tempered samplers, the first has a solid line, each other one a line of its
    own. Reference draws are grey lines.
    """
    names = sampler_names(shape, results)
    styles: dict[str, RowStyle] = {}
    looks: dict[str, tuple[str, str]] = {}
    drawn: set[str] = set()
    ordered = sorted(shape.rows, key=lambda row: row.role is not Role.sampler)
    known = sorted({names[row.row] for row in ordered if row.role is not Role.draws})
    for name in sorted(known, key=lambda name: name not in LOOKS):
        looks[name] = look_of(name, looks.values())
    for row in ordered:
        name = names[row.row]
        if row.role is Role.draws:
            lines = REFERENCE_LINES if name != UNIFORM else REFERENCE_LINES[1:] + REFERENCE_LINES[:1]
            used = {style.line for style in styles.values() if style.colour == GREY}
            styles[row.row] = RowStyle(GREY, "", next((line for line in lines if line not in used), lines[0]))
            continue
        colour, marker = looks[name]
        others = [style for style in styles.values() if style.colour == colour]
        if name in drawn:
            own = [mark for tint, mark in looks.values() if tint == colour]
            marker = _least_used(VARIANT_MARKERS, own + [style.marker for style in others])
        drawn.add(name)
        styles[row.row] = RowStyle(colour, marker, _least_used(LINES, [style.line for style in others]))
    return _darker(styles, {row: name for row, name in names.items() if styles[row].colour != GREY})


def _darker(styles: dict[str, RowStyle], names: dict[str, str]) -> dict[str, RowStyle]:
    """The `styles`, with a shade for each row of a sampler: its colour alone does not tell five rows apart.

    Args:
        names: the sampler of each row that has one, by its row.
    """
    rows, before = Counter(names.values()), Counter[str]()
    shaded = dict(styles)
    for row, style in styles.items():
        if (name := names.get(row)) is None:
            continue
        light = 1 - DARKEST * before[name] / max(rows[name] - 1, 2)
        before[name] += 1
        if light < 1:
            parts = bytes.fromhex(style.colour.removeprefix("#"))
            shaded[row] = replace(style, colour=f"#{bytes(round(light * part) for part in parts).hex()}")
    return shaded


def _least_used(choices: Sequence[Choice], used: Sequence[Choice]) -> Choice:
    """The first of the `choices` that come least often among those `used`."""
    return min(choices, key=used.count)


def sampler_names(shape: TableShape, results: Results) -> dict[str, str]:
    """The name of each row's sampler, or of the method of a task that has no sampler.

    A row without runs has what its label says before a comma.
    """
    names = {row.row: row.row.split(",")[0].strip().lower().replace("-", "_") for row in shape.rows}
    for run in reversed(results.runs):
        method = OmegaConf.select(run.config, "task.method")
        sampler = OmegaConf.select(run.config, "sampler.name")
        if (name := sampler if method in WITH_SAMPLER else method) is not None and run.row in names:
            names[run.row] = str(name)
    return names
