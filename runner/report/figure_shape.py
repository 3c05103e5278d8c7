"""The shape of a table's figures, part of the `table:` block of an experiment's YAML."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from runner.report.row_role import Role

NARROWEST = 3.5
"""Least width of a figure of which panels were left out, in inches: its legend needs room."""


@dataclass
class PanelShape:
    """One panel of a figure.

    Attributes:
        kind: `intervals` (rows against a metric), `against_columns` (metric against the columns' `x`),
            `against_steps` (metric along the run), `heat_map` (visits of `row`, or the target itself),
            `samples` (a sheet of the last draws of `row`), `images` (one of the data that `row` learned
            from), `class_histogram` (classes of the images of
            `row`), `state_shares` and `state_gaps` (visits to the states of a small binary target, and their
            difference from it), `spectrum` (eigenvalues of the Hessian at the draws of `row`) or `repeats`
            (the metric of every seed).
        log: whether the metric's axis is logarithmic (`against_columns`, `against_steps`).
        log_x: whether the horizontal axis is (`intervals`, `against_steps`, where it is by default, and
            `against_columns`).
        limits: ends of the metric's axis; by default it holds all intervals. Of colours (`state_shares`,
            `state_gaps`) and of the share (`spectrum`) the second.
        columns: labels of the columns drawn.
        x: key whose value places a column (`against_columns`), or `step`, `evaluations` or
            `seconds` (`against_steps`).
        x_label: what stands below the horizontal axis (`intervals`, `against_columns`, `against_steps`,
            `repeats`).
        y_label: what stands beside the vertical one in place of the metric's name (`against_columns`,
            `against_steps`).
        floor: a metric of the runs whose mean over all of them is drawn as a line (`against_steps`,
            `repeats`).
        x_power: the horizontal axis is this power of `x` (`against_columns`).
        theory: the power of `x` with which theory lets the metric of `row` grow, or of all rows; drawn dotted
            through the middle of their points (`against_columns`).
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
    limits: list[float] | None = None
    floor: str | None = None
    x_power: float = 1.0
    theory: float | None = None


@dataclass
class FigureShape:
    """A figure: panels side by side, `across` to a line, written to `name`.png and `name`.pdf.

    Attributes:
        width: of the whole figure, in inches.
        height: of one line of panels, in inches.
        roles: the rows that it shows.
        legend: the rows that its legend names.
        share_y: whether the panels of a line share their vertical axis.
        floor_label: what the legend calls the panels' `floor`.
    """

    name: str
    panels: list[PanelShape]
    across: int = 4
    width: float = 7.2
    height: float = 2.3
    roles: list[Role] = field(default_factory=lambda: list(Role))
    legend: list[Role] = field(default_factory=lambda: list(Role))
    share_y: bool = True
    floor_label: str = "floor"

    def restricted(self, columns: Collection[str]) -> FigureShape | None:
        """The figure without other columns, narrower where less than a line is left; None for no panel."""
        kept = [[label for label in panel.columns if label in columns] for panel in self.panels]
        panels = [
            replace(panel, columns=labels) for panel, labels in zip(self.panels, kept, strict=True) if labels
        ]
        across = min(self.across, len(panels))
        width = max(min(self.width, NARROWEST), self.width * across / self.across)
        return replace(self, panels=panels, across=across, width=width) if panels else None
