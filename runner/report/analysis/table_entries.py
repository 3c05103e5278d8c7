"""From runs to the entries of a table: intervals, the best sampler, and tests of the others against it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pandas as pd

from metrics.statistics.inference import ALPHA, Interval, holm, interval, paired_p_value
from runner.report.analysis.floor import within_floor
from runner.report.published import Published, PublishedNumbers
from runner.report.row_role import Role
from runner.report.stored_results import Results
from runner.report.table_shape import ColumnShape, Direction, MetricShape, RowShape, TableShape


@dataclass(frozen=True)
class Entry:
    """One number of a table, with its tests and the published numbers beside it.

    Attributes:
        row, column, metric: its place in the table.
        interval: mean and interval over seeds, in the metric's own unit; None where no run is done.
        runs: runs of this row and column that are done.
        expected: runs of this row and column in all.
        exact: the kernel's claim; None while no run of the row is done.
        published: the paper's number by version.
        best: whether it is the best of the exact samplers in its column.
        p_value: paired t-test against the best, Holm-adjusted over the column's other samplers.
        beats_best: whether a variant, which does not compete, has a better mean than the best sampler.
        within_floor: whether it is not significantly worse than the row that is the metric's floor.
    """

    row: str
    column: str
    metric: str
    interval: Interval | None
    runs: int
    expected: int
    exact: bool | None
    published: dict[str, Published] = field(default_factory=dict)
    best: bool = False
    p_value: float | None = None
    beats_best: bool = False
    within_floor: bool = False

    @property
    def not_significant(self) -> bool:
        """Whether it was tested against the best and does not differ significantly at the 5 % level."""
        return self.p_value is not None and self.p_value >= ALPHA


class Summary:
    """All entries of a table, by metric, row and column."""

    def __init__(self, entries: list[Entry]) -> None:
        self._entries = {(entry.metric, entry.row, entry.column): entry for entry in entries}

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def at(self, metric: str, row: str, column: str) -> Entry:
        """The entry of one metric, row and column."""
        return self._entries[metric, row, column]

    def frame(self, shape: TableShape) -> pd.DataFrame:
        """Long table in the metrics' own units; published numbers are brought to that unit."""
        records = []
        for entry in self:
            span = entry.interval
            record: dict[str, object] = {
                "row": entry.row,
                "role": shape.row(entry.row).role.value,
                "cell": entry.column,
                "metric": entry.metric,
                "mean": span.mean if span else None,
                "lo": span.lo if span else None,
                "hi": span.hi if span else None,
                "n": span.n if span else 0,
                "sd": span.sd if span else None,
            }
            for version in shape.versions:
                number = entry.published.get(version)
                record[f"published_{version}"] = number.mean * number.scale if number else None
                sd = number.sd if number else None
                record[f"published_{version}_sd"] = sd * number.scale if number and sd is not None else None
            record |= {"best": entry.best, "p_value": entry.p_value, "exact": entry.exact}
            record |= {"within_floor": entry.within_floor}
            record |= {"runs": entry.runs, "runs_expected": entry.expected}
            records.append(record)
        return pd.DataFrame.from_records(records)


def summarise(shape: TableShape, results: Results, published: PublishedNumbers) -> Summary:
    """The entries of the table, metric by metric and column by column."""
    exact = {row.row: results.exact(row.row) for row in shape.rows}
    entries = []
    for metric in shape.metrics:
        for column in shape.columns:
            if column.table:
                in_column = [
                    _entry(row, column, metric, results, published, exact[row.row]) for row in shape.rows
                ]
                compared = _compare(shape, metric, column, in_column, results)
                entries += _marked(metric, column, compared, results)
    return Summary(entries)


def _entry(
    row: RowShape,
    column: ColumnShape,
    metric: MetricShape,
    results: Results,
    published: PublishedNumbers,
    exact: bool | None,
) -> Entry:
    runs = results.at(row.row, column.label)
    values = results.values(row.row, column.label, metric.metric)
    found = {version: published.find(version, metric, column, row) for version in metric.published}
    return Entry(
        row=row.row,
        column=column.label,
        metric=metric.metric,
        interval=interval(list(values.values())),
        runs=sum(run.status == "done" for run in runs),
        expected=len(runs),
        exact=exact,
        published={version: number for version, number in found.items() if number is not None},
    )


def _marked(metric: MetricShape, column: ColumnShape, entries: list[Entry], results: Results) -> list[Entry]:
    """`entries` of one column, with those marked that are not significantly worse than the floor."""
    if metric.floor is None or metric.direction is Direction.none:
        return entries
    floor = results.values(metric.floor, column.label, metric.metric)
    sign = 1.0 if metric.direction is Direction.min else -1.0
    return [
        replace(
            entry,
            within_floor=entry.row != metric.floor
            and within_floor(results.values(entry.row, column.label, metric.metric), floor, sign),
        )
        for entry in entries
    ]


def _compare(
    shape: TableShape, metric: MetricShape, column: ColumnShape, entries: list[Entry], results: Results
) -> list[Entry]:
    """`entries` of one column, with the best exact sampler marked and the others tested against it.

    Where only one exact sampler has a value there is no best.
    """
    if metric.direction is Direction.none:
        return entries
    sign = 1.0 if metric.direction is Direction.min else -1.0
    samplers = [entry for entry in entries if shape.row(entry.row).role is Role.sampler and entry.interval]
    candidates = [entry for entry in samplers if entry.exact]
    if len(candidates) < 2:
        return entries
    best = min(candidates, key=lambda entry: sign * entry.interval.mean if entry.interval else 0.0)
    assert best.interval is not None
    of_best = results.values(best.row, column.label, metric.metric)
    others = [entry.row for entry in samplers if entry.row != best.row]
    p_values = holm(
        [paired_p_value(results.values(row, column.label, metric.metric), of_best) for row in others]
    )
    adjusted = dict(zip(others, p_values, strict=True))
    compared = []
    for entry in entries:
        better = entry.interval is not None and sign * entry.interval.mean < sign * best.interval.mean
        variant = shape.row(entry.row).role is Role.variant
        compared.append(
            replace(
                entry,
                best=entry.row == best.row,
                p_value=adjusted.get(entry.row),
                beats_best=better and variant,
            )
        )
    return compared
