"""What a panel is drawn from, what a kind of panels declares, and how an empty panel looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from matplotlib.axes import Axes

from metrics.statistics.inference import Interval, interval
from runner.report.figure_shape import PanelShape
from runner.report.figures.style import RowStyle
from runner.report.stored_results import Results
from runner.report.table_shape import MetricShape, RowShape, TableShape


@dataclass(frozen=True)
class PanelData:
    """The data of one panel.

    Attributes:
        shape: the table's shape.
        panel: the panel's own block.
        rows: the rows that this figure shows.
        results: the runs.
        styles: how each row looks.
    """

    shape: TableShape
    panel: PanelShape
    rows: list[RowShape]
    results: Results
    styles: Mapping[str, RowStyle]

    @property
    def metric(self) -> MetricShape:
        """The metric of this panel."""
        assert self.panel.metric is not None
        return self.shape.metric(self.panel.metric)

    def interval(self, row: str, column: str) -> Interval | None:
        """Mean and interval of the panel's metric over seeds, in the metric's own unit."""
        return interval(list(self.results.values(row, column, self.metric.metric).values()))

    def floor(self, column: str) -> float | None:
        """Mean of the panel's floor over all runs of a column; None where no run has it."""
        name = self.panel.floor
        runs = [run for run in self.results.runs if run.column == column]
        found = [run.value(name) for run in runs] if name is not None else []
        values = [value for value in found if value is not None]
        return sum(values) / len(values) if values else None


Draw = Callable[[Axes, PanelData], None]


@dataclass(frozen=True)
class PanelKind:
    """A kind of panels.

    Attributes:
        draw: draws one panel.
        required: keys of the panel's block that must be given.
        optional: keys that may be given; any other is refused.
        one_column: whether a panel shows a single column of the table.
        colour_label: label of the colour bar of a line of such panels; None draws no bar.
    """

    draw: Draw
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    one_column: bool = True
    colour_label: str | None = None


NO_RUN = "no finished run"


def show_reason(ax: Axes, reason: str = NO_RUN) -> None:
    """Writes into an empty panel why it is empty."""
    ax.text(0.5, 0.5, reason, transform=ax.transAxes, ha="center", va="center", color="#7F7F7F")
