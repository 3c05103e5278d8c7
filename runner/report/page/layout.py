"""The page: one block per metric, ours and published side by side, with its footnotes.

The layout contains no markup; Markdown, LaTeX and the terminal format the same blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner.report.analysis.compared_rows import ComparedRows, compared_rows
from runner.report.analysis.comparison import compared
from runner.report.analysis.fitted_growth import FittedGrowth
from runner.report.analysis.growth import fitted_growths, growing
from runner.report.analysis.table_entries import Entry, Summary
from runner.report.analysis.unequal_costs import unequal_costs
from runner.report.figure_shape import Role
from runner.report.numerals import Numeral, numeral
from runner.report.page.legend import (
    BEATS_BEST,
    INEXACT,
    NOT_SIGNIFICANT,
    REDUCED,
    WITHIN_FLOOR,
    Footnotes,
    legend,
    mark,
    notes_on_runs,
)
from runner.report.published import Published
from runner.report.runs.stored_results import Results
from runner.report.table_shape import ColumnShape, Direction, MetricShape, Orientation, RowShape, TableShape

NOTHING = "-"
"""Stands for a mean where no run has a finite value."""


@dataclass(frozen=True)
class Label:
    """A text with the marks of its footnotes."""

    text: str
    marks: tuple[str, ...] = ()
    unit: float | None = None


@dataclass(frozen=True)
class Cell:
    """A number of the table; `published` marks a paper's number.

    `seeds` says how many it is of where not all have a value, ``3`` or ``3 of 5``.
    """

    numeral: Numeral
    bold: bool = False
    marks: tuple[str, ...] = ()
    seeds: str | None = None
    published: bool = False


@dataclass(frozen=True)
class ColumnGroup:
    """Neighbouring columns under one heading; `rule` draws a line before them."""

    label: Label
    heads: tuple[Label, ...]
    rule: bool


@dataclass(frozen=True)
class Line:
    """One line of a block; `rule` draws a line above it. None stands where no run is done."""

    label: Label
    cells: tuple[Cell | None, ...]
    rule: bool


@dataclass(frozen=True)
class MetricBlock:
    """All numbers of one metric."""

    label: Label
    direction: Direction
    groups: tuple[ColumnGroup, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Page:
    """A table ready to be written: its blocks, and the sentences around them.

    `findings` are sentences on `comparisons` and `growths`, and on growths along runs.
    """

    title: str
    caption: str
    blocks: tuple[MetricBlock, ...]
    findings: tuple[str, ...]
    legend: tuple[str, ...]
    footnotes: tuple[tuple[str, str], ...]
    coverage: str
    rest: str | None
    comparisons: tuple[ComparedRows, ...] = ()
    growths: tuple[FittedGrowth, ...] = ()


def lay_out(shape: TableShape, summary: Summary, results: Results, budget: str, command: str) -> Page:
    """The page of a table; `command` is what a reader runs for the missing runs."""
    layout = _Layout(shape, summary, results)
    blocks = tuple(layout.block(metric) for metric in shape.metrics)
    reduction, counts = shape.reduced.get(results.scale), results.counts
    missing = ", ".join(f"{counts[status]} {status}" for status in sorted(counts) if status != "done")
    coverage = f"{results.done} of {results.expected} runs are done" + (f" ({missing})." if missing else ".")
    comparisons = compared_rows(shape, results)
    notes = *shape.notes, *unequal_costs(shape, results), *notes_on_runs(results.threads, results.sources)
    return Page(
        title=shape.title if reduction is None else f"{shape.title} (reduced protocol)",
        caption=" ".join(part for part in (shape.caption.strip(), budget) if part),
        blocks=blocks,
        findings=(*compared(comparisons), *growing(shape, results)),
        legend=tuple(legend(shape, summary, results.seeds, reduction)),
        footnotes=tuple((mark(place), text) for place, text in enumerate(layout.footnotes.texts))
        + tuple(("", " ".join(note.split())) for note in notes),
        coverage=coverage,
        rest=command if results.done < results.expected else None,
        comparisons=tuple(comparisons),
        growths=tuple(fitted_growths(shape, results)),
    )


Item = RowShape | ColumnShape
"""What runs down or across the page."""


class _Layout:
    """The blocks of a table; `footnotes` are those met so far."""

    def __init__(self, shape: TableShape, summary: Summary, results: Results) -> None:
        self._shape, self._summary, self._results = shape, summary, results
        self.footnotes = Footnotes()

    def block(self, metric: MetricShape) -> MetricBlock:
        """All numbers of one metric."""
        name = Label(metric.name, self.footnotes.marks(metric.note), metric.scale)
        down: Sequence[Item] = self._shape.rows_of(metric.metric)
        across: Sequence[Item] = [column for column in self._shape.columns if column.table]
        if self._shape.orientation is Orientation.columns_down:
            down, across = across, down
        groups: list[ColumnGroup] = []
        versions: list[list[str]] = []
        for position, item in enumerate(across):
            printed = {
                version: [self._entry(metric, item, other).published.get(version) for other in down]
                for version in metric.published
            }
            shown = {version: numbers for version, numbers in printed.items() if any(numbers)}
            over = self._label(item)
            heads = [self._version_head(version, metric, numbers) for version, numbers in shown.items()]
            ours = Label("ours" if shown else "")
            groups.append(ColumnGroup(over, (ours, *heads), _starts_part(across, position)))
            versions.append(list(shown))
        lines = []
        for position, item in enumerate(down):
            cells: list[Cell | None] = []
            for other, shown_versions in zip(across, versions, strict=True):
                entry = self._entry(metric, item, other)
                cells.append(self._ours(entry, metric))
                cells += [_published(entry.published.get(version)) for version in shown_versions]
            lines.append(Line(self._label(item), tuple(cells), _starts_part(down, position)))
        return MetricBlock(name, metric.direction, tuple(groups), tuple(lines))

    def _entry(self, metric: MetricShape, one: Item, other: Item) -> Entry:
        row, column = (one, other) if isinstance(one, RowShape) else (other, one)
        assert isinstance(row, RowShape)
        assert isinstance(column, ColumnShape)
        return self._summary.at(metric.metric, row.row, column.label)

    def _version_head(self, version: str, metric: MetricShape, numbers: Sequence[Published | None]) -> Label:
        """Heading of a published column: its version, its unit where it is not ours, its footnote."""
        scales = {number.scale for number in numbers if number is not None}
        unit = scales.pop() if len(scales) == 1 else None
        differs = unit is not None and unit != metric.scale
        marks = self.footnotes.marks(metric.published_notes.get(version))
        return Label(version, marks, unit if differs else None)

    def _label(self, item: Item) -> Label:
        """A row's or a column's name, with the footnotes of it and of its data."""
        if isinstance(item, ColumnShape):
            notes = [item.note, *self._results.notes(item.label)]
            return Label(item.label, tuple(letter for note in notes for letter in self.footnotes.marks(note)))
        own = [entry for entry in self._summary if entry.row == item.row]
        inexact = item.role is not Role.draws and any(entry.exact is False for entry in own)
        return Label(item.row, ((INEXACT,) if inexact else ()) + self.footnotes.marks(item.note))

    def _ours(self, entry: Entry, metric: MetricShape) -> Cell | None:
        if entry.interval is None:
            return None if entry.seeds is None else Cell(Numeral(NOTHING), seeds=entry.seeds)
        marks = {
            NOT_SIGNIFICANT: entry.not_significant,
            BEATS_BEST: entry.beats_best,
            WITHIN_FLOOR: entry.within_floor,
            REDUCED: self._results.scale in self._shape.reduced,
        }
        return Cell(
            numeral(entry.interval.mean, entry.interval.margin, metric.scale),
            bold=entry.best,
            marks=tuple(mark for mark, holds in marks.items() if holds),
            seeds=entry.seeds,
        )


def _published(number: Published | None) -> Cell | None:
    return Cell(number.printed, published=True) if number else None


def _starts_part(items: Sequence[Item], position: int) -> bool:
    """Whether the role of the rows changes here."""
    item = items[position]
    before = items[position - 1] if position else item
    return isinstance(item, RowShape) and isinstance(before, RowShape) and item.role is not before.role
