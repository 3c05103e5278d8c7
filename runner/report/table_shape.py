"""The shape of a table, as the `table:` block of an experiment's YAML describes it.

The dataclasses below are the block's schema: an unknown or missing key is refused by name. A new table is
one new YAML.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from runner.execution.errors import UserError
from runner.report.block_mistakes import NOT_ZERO, POSITIVE, mistakes
from runner.report.block_references import wrong_references
from runner.report.figure_shape import FigureShape, Role

FILE_NAME = re.compile(r"\w[\w .+-]*")
"""What a figure may be called: its files lie in the folder of the table."""


MOST_NAMED = 8
"""Rows that are named where a sentence is of some; a table of any runs may have hundreds."""


def first_named(labels: Sequence[str]) -> str:
    """The first of `labels`, and how many more there are."""
    more = f"; and {len(labels) - MOST_NAMED} more" if len(labels) > MOST_NAMED else ""
    return "; ".join(labels[:MOST_NAMED]) + more


class Direction(Enum):
    """Which way a metric is better; `none` draws no comparison."""

    min = "min"
    max = "max"
    none = "none"


BETTER = {Direction.min: "lower is better", Direction.max: "higher is better", Direction.none: ""}
"""The directions in words."""


class Orientation(Enum):
    """What runs down the page: the rows (samplers) or the columns (cells)."""

    rows_down = "rows_down"
    columns_down = "columns_down"


@dataclass
class RowShape:
    """One row: `row` is its label in the experiment's sweep; `published` maps a version to the name there.

    It is left out where the command asks for no job of it, as with ``sampler=dmala``.

    A row with `exact`, names of metrics, is not in the sweep: it holds the values METRIC_exact that the
    runs of a column have beside their own, or those with another `suffix`. It competes with no sampler: its
    role is `draws` by default.
    """

    row: str
    role: Role = Role.sampler
    note: str | None = None
    exact: list[str] = field(default_factory=list)
    suffix: str = "exact"
    published: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.exact and self.role is Role.sampler:
            self.role = Role.draws


@dataclass
class ColumnShape:
    """One cell of the sweep: the runs whose configuration has the values `where`.

    It is left out where the sweep has no job of it, as at a scale with other data sets.
    """

    label: str
    where: dict[str, Any]
    published: str | None = None
    table: bool = True
    note: str | None = None


@dataclass
class MetricShape:
    """One block of the table: numbers in units of `scale`, and beside them the `published` metric.

    `rows` are those that have it, where not all do. `floor` names the row that no number can be
    better than; numbers that are not significantly worse get a mark.
    """

    metric: str
    name: str
    direction: Direction
    scale: float = field(default=1.0, metadata=POSITIVE)
    note: str | None = None
    published: dict[str, str] = field(default_factory=dict)
    published_notes: dict[str, str] = field(default_factory=dict)
    floor: str | None = None
    rows: list[str] = field(default_factory=list)


@dataclass
class VersionShape:
    """Where a version's numbers stand in the file of published results."""

    paper: str
    table: str


@dataclass
class PublishedShape:
    """A file in conf/published and the versions of the table that it holds, by the label they get here."""

    file: str
    versions: dict[str, VersionShape]


@dataclass
class ComparisonShape:
    """Two rows that a sentence below the table compares by `metric`, in every column, with a paired test."""

    metric: str
    rows: list[str]


@dataclass
class GrowthShape:
    """Sentences below the table that say how fast a metric grows, one for each of `rows` (by default all).

    Attributes:
        x: key whose value places a column, or one of `ALONG` along the runs of the one column `along`.
        symbol: its name in the sentences.
        power: of it, in the exponential.
        exponential: whether the fit is to exp(p x^power) instead of x^p.
        along: label of a column.
        theory: by row, the growth that theory predicts, as printed in the sentence.
    """

    metric: str
    x: str
    symbol: str
    power: float = field(default=1.0, metadata=NOT_ZERO)
    exponential: bool = False
    along: str | None = None
    rows: list[str] = field(default_factory=list)
    theory: dict[str, str] = field(default_factory=dict)


@dataclass
class TableShape:
    """The whole `table:` block.

    `reduced` describes by scale how the protocol is smaller than the published one; the title and every
    number of ours are then marked.
    """

    title: str
    caption: str
    rows: list[RowShape]
    columns: list[ColumnShape]
    metrics: list[MetricShape]
    orientation: Orientation = Orientation.rows_down
    published: PublishedShape | None = None
    figures: list[FigureShape] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    comparisons: list[ComparisonShape] = field(default_factory=list)
    growths: list[GrowthShape] = field(default_factory=list)
    reduced: dict[str, str] = field(default_factory=dict)

    def restricted(self, columns: Collection[str], rows: Collection[str] | None = None) -> TableShape:
        """The table without columns and rows that are not among these, in its page and its figures.

        Args:
            rows: labels; None keeps all.
        """
        kept = [row for row in self.rows if rows is None or row.row in rows]
        names = {row.row for row in kept}
        figures = [figure.restricted(columns, names) for figure in self.figures]
        return replace(
            self,
            rows=kept,
            columns=[column for column in self.columns if column.label in columns],
            figures=[figure for figure in figures if figure is not None],
            comparisons=[pair for pair in self.comparisons if names.issuperset(pair.rows)],
            growths=[
                replace(growth, rows=[row for row in growth.rows if row in names])
                for growth in self.growths
                if (growth.along is None or growth.along in columns)
                and (not growth.rows or not names.isdisjoint(growth.rows))
            ],
        )

    def row(self, name: str) -> RowShape:
        """The row with this label."""
        return next(row for row in self.rows if row.row == name)

    def column(self, label: str) -> ColumnShape:
        """The column with this label."""
        return next(column for column in self.columns if column.label == label)

    def metric(self, name: str) -> MetricShape:
        """The metric with this name."""
        return next(metric for metric in self.metrics if metric.metric == name)

    def rows_of(self, metric: str | None) -> list[RowShape]:
        """The rows that show the metric with this name: all, if it names none; all rows for None."""
        named = self.metric(metric).rows if metric is not None else []
        return [row for row in self.rows if not named or row.row in named]

    def drawn_rows(self, metric: str | None) -> list[RowShape]:
        """Those of `rows_of` that panels draw: exact values only of the metrics that they are of."""
        return [row for row in self.rows_of(metric) if not row.exact or metric in row.exact]

    @property
    def versions(self) -> list[str]:
        """Labels of the published versions."""
        return list(self.published.versions) if self.published else []


def table_shape(experiment: str, block: DictConfig) -> TableShape:
    """The checked shape that the `table:` block of `experiment` describes.

    Raises:
        UserError: if a key is unknown or missing, names a row, column, metric or version it lacks, or a
            figure is called as no file is.
    """
    try:
        plain: Any = OmegaConf.to_container(block, resolve=True)
        for mistake in mistakes(plain, TableShape, "table"):
            raise UserError(f"Experiment {experiment}: {mistake}")
        shape = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(TableShape), block))
    except OmegaConfBaseException as error:
        sentence = str(error).splitlines()[0]
        raise UserError(f"Experiment {experiment}: table.{error.full_key}: {sentence}.") from error
    assert isinstance(shape, TableShape)
    _check_names(experiment, shape)
    for wrong in wrong_references(plain):
        raise UserError(f"Experiment {experiment}: {wrong}")
    return shape


def _check_names(experiment: str, shape: TableShape) -> None:
    """Refuses a figure that is called as no file is."""
    for place, figure in enumerate(shape.figures):
        if FILE_NAME.fullmatch(figure.name) is None:
            raise UserError(
                f"Experiment {experiment}: table.figures[{place}].name must be a file name of letters, "
                f"digits, spaces and ., _, +, -, '{figure.name}' was given."
            )
