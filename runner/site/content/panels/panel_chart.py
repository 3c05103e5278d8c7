"""The chart of all panels of an experiment that its table and its curves do not show already."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pandas as pd

from runner.execution.errors import UserError
from runner.report.figures.panel import PanelData
from runner.report.figures.style import RowStyle
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape
from runner.site.content.panels.against import against_columns
from runner.site.content.panels.auxiliary import auxiliary
from runner.site.content.panels.bars import class_histogram, spectrum
from runner.site.content.panels.grids import heat_map, state_gaps, state_shares
from runner.site.content.panels.known import Known
from runner.site.content.panels.marks import Plot
from runner.site.content.panels.overlaps import overlaps
from runner.site.content.panels.rows import repeats, tour_costs
from runner.site.content.panels.tours import tour_marginals

Draw = Callable[[Sequence[PanelData], Known], Plot | None]

KINDS: dict[str, Draw] = {
    "heat_map": heat_map,
    "state_shares": state_shares,
    "state_gaps": state_gaps,
    "repeats": repeats,
    "tour_costs": tour_costs,
    "class_histogram": class_histogram,
    "spectrum": spectrum,
    "overlaps": overlaps,
    "auxiliary": auxiliary,
    "tour_marginals": tour_marginals,
}
"""Kinds of `runner.report.panel_kinds`. The table's chart has `intervals`, the curves have `against_steps`;
`samples` and `images` are pictures, which have no values to point at."""

MERGED = ("class_histogram", "spectrum", "tour_marginals")
"""Kinds whose panels of one column are one plot: each shows a single row."""


def panel_chart(
    shape: TableShape,
    results: Results,
    frame: pd.DataFrame,
    styles: Mapping[str, RowStyle],
    known: Known,
) -> dict[str, Any] | None:
    """One plot for each panel, or for all that are one; None where no panel has what it draws."""
    plots: list[Plot | None] = []
    groups: dict[tuple[object, ...], list[PanelData]] = {}
    for figure in shape.figures:
        rows = [row for row in shape.rows if row.role in figure.roles]
        for place, panel in enumerate(figure.panels):
            data = PanelData(shape, panel, rows, results, styles, figure.floor_label)
            if panel.kind == "against_columns":
                plots.append(against_columns(data, frame, known))
            elif panel.kind in KINDS:
                own = panel.columns[0] if panel.kind in MERGED else place
                groups.setdefault((figure.name, panel.kind, own), []).append(data)
    for (_, kind, _), panels in groups.items():
        # A target that this kind cannot draw: its figure says so.
        with suppress(UserError):
            plots.append(KINDS[str(kind)](panels, known))
    drawn = [plot for plot in plots if plot is not None]
    return {"plots": drawn} if drawn else None
