"""What a panel is drawn from, what a kind of panels declares, and how an empty panel looks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from metrics.inference.few_seeds import Interval
from runner.report.figure_shape import PanelShape
from runner.report.figures.labels.broken_lines import IN_ROW, LEFT, row_name
from runner.report.figures.metric_axis import Quantity, quantity_of
from runner.report.figures.style import GREY, RowStyle
from runner.report.published import published_numbers
from runner.report.runs.experiment_run import Run
from runner.report.runs.stored_results import Results, some_of
from runner.report.table_shape import MetricShape, RowShape, TableShape

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class PanelData:
    """The data of one panel.

    Attributes:
        shape: the table's shape.
        panel: the panel's own block.
        figure_rows: the rows that this figure shows.
        results: the runs.
        styles: how each row looks.
        floor_label: what the figure calls the panels' `floor`.
    """

    shape: TableShape
    panel: PanelShape
    figure_rows: Sequence[RowShape]
    results: Results
    styles: Mapping[str, RowStyle]
    floor_label: str = "floor"

    @property
    def rows(self) -> list[RowShape]:
        """The rows of the figure that show the panel's metric."""
        return [row for row in self.shape.drawn_rows(self.panel.metric) if row in self.figure_rows]

    @property
    def metric(self) -> MetricShape:
        """The metric of this panel."""
        assert self.panel.metric is not None
        return self.shape.metric(self.panel.metric)

    @property
    def quantity(self) -> Quantity:
        """Unit, range and direction of the panel's metric, which may be the user's own."""
        return quantity_of(self.metric.metric, self.results.own_metrics)

    @property
    def column(self) -> str:
        """The one column of this panel."""
        (column,) = self.panel.columns
        return column

    @property
    def row(self) -> str:
        """The row of this panel."""
        assert self.panel.row is not None
        return self.panel.row

    @property
    def runs(self) -> Sequence[Run]:
        """All runs of the panel's column."""
        return [run for run in self.results.runs if run.column == self.column]

    @property
    def own_runs(self) -> Sequence[Run]:
        """The runs of the panel's row and column."""
        return self.results.at(self.row, self.column)

    @property
    def finished(self) -> bool:
        """Whether any run of the panel's column and rows is done."""
        return any(self.results.finished(row.row, self.column) for row in self.rows)

    def interval(self, row: str, column: str, metric: str | None = None) -> Interval | None:
        """Mean and interval of a metric, by default the panel's, over seeds, in the metric's own unit."""
        return self.results.interval(row, column, self.metric.metric if metric is None else metric)

    def partial(self, row: str, column: str) -> str | None:
        """``3 of 5`` where that mean is of the seeds with a finite value alone; None where all have one."""
        return some_of(*self.results.coverage(row, column, self.metric.metric))

    def single(self, n: int) -> str | None:
        """``n = 1`` for a mean of one seed where other rows have more: it has no interval."""
        return "n = 1" if n == 1 and self.results.seeds > 1 else None

    def why_empty(self, row: str) -> str:
        """What stands in the line of a row without a mean; a table has ``n=0 of b`` for no value."""
        if self.results.coverage(row, self.column, self.metric.metric)[1]:
            return "no value"
        return "not measured" if self.results.at(row, self.column) else "not run"

    def published(self, row: str, column: str) -> list[tuple[str, float]]:
        """Version and number printed beside ours, in the metric's own unit, the newest version first."""
        numbers, place = published_numbers(self.shape), (self.shape.column(column), self.shape.row(row))
        found = [(version, numbers.find(version, self.metric, *place)) for version in self.metric.published]
        return [(version, number.mean * number.scale) for version, number in reversed(found) if number]

    @property
    def floor(self) -> float | None:
        """Mean of the panel's floor over all runs of its column; None where no run has it."""
        name = self.panel.floor
        found = [run.value(name) for run in self.runs] if name is not None else []
        values = [value for value in found if value is not None]
        return sum(values) / len(values) if values else None


Draw = Callable[["Axes", PanelData], None]


@dataclass(frozen=True)
class PanelKind:
    """A kind of panels.

    Attributes:
        draw: draws one panel.
        required: keys of the panel's block that must be given.
        optional: keys that may be given; any other is refused.
        one_column: whether a panel shows a single column of the table.
        colour_label: label of the colour bar of a line of such panels; None draws no bar.
        names_rows: whether the vertical axis names the rows; by default it has the values of the metric.
        has_intervals: whether it shows means with intervals; a figure says so also where it has no legend.
        allowed: of a key that takes some words alone, those words.
    """

    draw: Draw
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    one_column: bool = True
    colour_label: str | None = None
    names_rows: bool = False
    has_intervals: bool = False
    allowed: Mapping[str, Collection[str]] = field(default_factory=dict)


def show_missing(ax: Axes, runs: Sequence[Run] = (), what: str = "") -> None:
    """Writes into an empty panel why it is empty: none of its `runs` has `what`, or there are none."""
    reason = f"no {what}" if runs else "no finished run"
    ax.text(0.5, 0.5, reason, transform=ax.transAxes, ha="center", va="center", color=GREY)


def write_in_row(ax: Axes, place: int, said: str) -> None:
    """Writes into the line of a row why it is empty, as `show_missing` does into an empty panel.

    It stands at the left, and goes to the right where something is drawn there (`labels.fitting`).
    """
    from matplotlib.patheffects import withStroke

    halo, at = withStroke(linewidth=2.0, foreground="white"), ("axes fraction", "data")
    ax.annotate(said, (LEFT, place), xycoords=at, va="center", size=6, gid=IN_ROW, path_effects=[halo])


def name_left_out(ax: Axes, names: Iterable[str]) -> None:
    """Writes below a panel what is not drawn, since its logarithmic axis has no place for it."""
    if said := ", ".join(dict.fromkeys(names)):
        ax.set_xlabel(f"{ax.get_xlabel()}\n0 or less, not drawn: {said}")


def name_rows(ax: Axes, rows: Sequence[RowShape]) -> None:
    """Names the rows along the vertical axis, the first one at the top."""
    ax.set_yticks(range(len(rows)), ["\n".join(row_name(row.row)) for row in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
