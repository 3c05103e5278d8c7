"""The shape of a table's figures, part of the `table:` block of an experiment's YAML."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from enum import Enum

from runner.report.block_mistakes import ENDS, NOT_ZERO, POSITIVE

NARROWEST = 3.5
"""Least width of a figure of which panels were left out, in inches: its legend needs room."""


class Role(Enum):
    """What a row is: a `sampler` competes; a `variant` and reference `draws` do not, and are below a line."""

    sampler = "sampler"
    variant = "variant"
    draws = "draws"


@dataclass
class PanelShape:
    """One panel of a figure.

    Which of the keys it has to have and may have depends on its kind (`runner.report.panels`).

    Attributes:
        kind: what is drawn, the name of one of `runner.report.panel_kinds`.
        title: its heading.
        columns: labels of the table's columns that it draws.
        metric: the metric drawn, one of the table's.
        row: the row drawn, where a panel shows a single one.
        x: key whose value places a column, or `step`, `evaluations` or `seconds` along a run.
        x_label: label of the horizontal axis.
        y_label: label of the vertical axis in place of the metric's name.
        log: whether the metric's axis is logarithmic.
        log_x: whether the horizontal axis is; by default each kind decides.
        limits: ends of the metric's axis, by default such that all intervals fit; of colours and shares the
            second is the upper end.
        floor: a metric of the runs whose mean over all of them is drawn as a level line.
        x_power: the horizontal axis is this power of `x`.
        theory: the power of `x` with which the metric of `row`, or of all rows, grows by theory; drawn dotted
            through the middle of their points, for rows whose points all have logarithms.
    """

    kind: str
    title: str
    columns: list[str]
    metric: str | None = None
    row: str | None = None
    x: str = "step"
    x_label: str | None = None
    y_label: str | None = None
    log: bool = False
    log_x: bool | None = None
    limits: list[float] | None = field(default=None, metadata=ENDS)
    floor: str | None = None
    x_power: float = field(default=1.0, metadata=NOT_ZERO)
    theory: float | None = None


@dataclass
class FigureShape:
    """A figure: panels side by side, `across` to a line, written to `name`.png and `name`.pdf.

    Attributes:
        width: of the whole figure, in inches.
        height: of one line of panels, in inches.
        roles: the rows that it shows.
        legend: the rows that its legend names.
        share_y: whether the panels of a line share their vertical axis, if it is the same quantity in all.
        floor_label: what the legend calls the panels' `floor`.
        whole_width: the width before columns were left out (`restricted`); the lines that a narrower legend
            has more make the figure higher.
    """

    name: str
    panels: list[PanelShape]
    across: int = field(default=4, metadata=POSITIVE)
    width: float = field(default=7.2, metadata=POSITIVE)
    height: float = field(default=2.3, metadata=POSITIVE)
    roles: list[Role] = field(default_factory=lambda: list(Role))
    legend: list[Role] = field(default_factory=lambda: list(Role))
    share_y: bool = True
    floor_label: str = "floor"
    whole_width: float | None = None

    def restricted(self, columns: Collection[str], rows: Collection[str]) -> FigureShape | None:
        """The figure without other columns and rows, narrower where less than a line is left, or None."""
        panels = [
            replace(panel, columns=labels)
            for panel in self.panels
            if (labels := [label for label in panel.columns if label in columns])
            and (panel.row is None or panel.row in rows)
        ]
        across = min(self.across, len(panels))
        width = max(min(self.width, NARROWEST), self.width * across / self.across)
        whole = self.whole_width or self.width
        return replace(self, panels=panels, across=across, width=width, whole_width=whole) if panels else None
