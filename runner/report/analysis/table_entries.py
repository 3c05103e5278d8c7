"""From runs to the entries of a table: intervals, the best sampler, and tests of the others against it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from metrics.inference.few_seeds import ALPHA, Interval, alike, contradicted, paired_p_value
from runner.report.analysis.against_best import p_values_against
from runner.report.figure_shape import Role
from runner.report.published import Published, PublishedNumbers
from runner.report.runs.stored_results import Results
from runner.report.table_shape import ColumnShape, Direction, MetricShape, TableShape

if TYPE_CHECKING:
    import pandas as pd

EQUAL = 1e-12
"""Relative difference up to which two means are equal: sums of the same values may be rounded differently."""


@dataclass(frozen=True)
class Entry:
    """One number of a table, with its tests and the published numbers beside it.

    Attributes:
        row, column, metric: its place in the table.
        interval: mean and interval over seeds, in the metric's own unit; None where no run is done.
        runs: seeds of this row and column with a run that is done.
        expected: seeds of this row and column in all.
        most: seeds that a row has in this column at most.
        exact: the kernel's claim; None where there is no kernel, or no run of the row is done.
        published: the paper's number by version.
        best: whether it is the best of the exact samplers in its column, or equal to it.
        p_value: paired t-test against the best, adjusted for its choice (`p_values_against`).
        untested: whether there is a best, and no test against it: fewer than two seeds that both have, or
            differences that do not vary.
        closed_form: whether `interval` holds the expectation in closed form and not a mean of runs.
        beats_best: whether a variant, which does not compete, has a better mean than the best sampler.
        within_floor: whether a test finds it not significantly worse than the row that is the metric's floor.
        without_value: runs that failed, or measured the metric and have no finite value, such as the time to
            a target that was not reached. The mean is of the others alone, and is compared with nothing.
    """

    row: str
    column: str
    metric: str
    interval: Interval | None
    runs: int
    expected: int
    most: int
    exact: bool | None
    published: dict[str, Published] = field(default_factory=dict)
    best: bool = False
    p_value: float | None = None
    untested: bool = False
    closed_form: bool = False
    beats_best: bool = False
    within_floor: bool = False
    without_value: int = 0

    @property
    def seeds(self) -> str | None:
        """How many seeds the mean is of, where others have more; ``3 of 5`` where two have no value."""
        found = 0 if self.interval is None else self.interval.n
        if self.without_value:
            return f"{found} of {found + self.without_value}"
        fewer = self.interval is not None and found < self.most
        return str(found) if fewer and (self.varies or not self.closed_form) else None

    @property
    def varies(self) -> bool:
        """Whether the seeds have different values."""
        return self.interval is not None and self.interval.margin is not None

    @property
    def not_significant(self) -> bool:
        """Whether it was tested against a better one and does not differ significantly at the 5 % level."""
        return not self.best and self.p_value is not None and self.p_value >= ALPHA


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
        """`records` as a data frame."""
        import pandas as pd

        return pd.DataFrame.from_records(self.records(shape))

    def records(self, shape: TableShape) -> list[dict[str, object]]:
        """Long table in the metrics' own units; published numbers are brought to that unit.

        ``closed_form`` says that a mean is an expectation, which `n` runs have alike, and no mean of theirs.
        """
        records = []
        for entry in self:
            role, span = shape.row(entry.row).role, asdict(entry.interval) if entry.interval else {"n": 0}
            record: dict[str, object] = {"row": entry.row, "role": role.value, "cell": entry.column}
            record |= {"metric": entry.metric} | {
                key: span.get(key) for key in ("mean", "lo", "hi", "n", "sd")
            }
            for version in shape.versions:
                number = entry.published.get(version)
                record[f"published_{version}"] = number.mean * number.scale if number else None
                sd = number.sd if number else None
                record[f"published_{version}_sd"] = sd * number.scale if number and sd is not None else None
            record |= {"best": entry.best, "p_value": entry.p_value, "exact": entry.exact}
            record |= {"within_floor": entry.within_floor}
            record |= {"runs": entry.runs, "runs_expected": entry.expected}
            record |= {"without_value": entry.without_value, "closed_form": entry.closed_form}
            records.append(record)
        return records


def interval_of(entry: Mapping[Any, Any]) -> Interval:
    """The interval in a line of `Summary.frame` that has a mean."""
    found = [entry[key] for key in ("lo", "hi", "sd")]
    lo, hi, sd = (None if each is None or math.isnan(each) else float(each) for each in found)
    return Interval(float(entry["mean"]), sd, lo, hi, int(entry["n"]))


def lost_of(entry: Mapping[Any, Any]) -> int:
    """How many seeds are without a value in a line of `Summary.frame`.

    Tables recorded before that was counted do not know of failed runs.
    """
    if "without_value" in entry:
        return int(entry["without_value"])
    return 0 if math.isnan(entry["mean"]) else max(0, int(entry.get("runs", 0)) - int(entry["n"]))


def summarise(shape: TableShape, results: Results, published: PublishedNumbers) -> Summary:
    """The entries of the table, metric by metric and column by column."""
    exact = {row.row: results.exact(row.row) for row in shape.rows}
    entries = []
    for metric in shape.metrics:
        for column in shape.columns:
            if column.table:
                entries += _entries(shape, metric, column, results, published, exact)
    return Summary(entries)


def _entries(
    shape: TableShape,
    metric: MetricShape,
    column: ColumnShape,
    results: Results,
    published: PublishedNumbers,
    exact: Mapping[str, bool | None],
) -> list[Entry]:
    """The entries of one column: the best exact sampler, the others tested against it, and the floor.

    Where only one exact sampler has a value, or the floor is void, there is no best. A row some of whose runs
    have no value is compared with nothing: the others are not a fair choice of its runs. Nor is one that the
    table does not show for this metric.
    """
    void = metric.floor is not None and results.void(column.label)
    values = {row.row: results.shown(row.row, column.label, metric.metric) for row in shape.rows}
    spans = {row: span for row in values if (span := results.interval(row, column.label, metric.metric))}
    sign = {Direction.min: 1.0, Direction.max: -1.0, Direction.none: 0.0}[metric.direction]
    known = {row: bool(results.known(row, column.label, metric.metric)) for row in values}
    without = {row: results.without_value(row, column.label, metric.metric) for row in values}
    whole = {row: span for row, span in spans.items() if not without[row]}
    visible = shape.rows_of(metric.metric)
    samplers = [row.row for row in visible if row.role is Role.sampler and row.row in whole]
    candidates = [row for row in samplers if exact[row]] if sign and not void else []
    best = min(candidates, key=lambda row: sign * spans[row].mean) if len(candidates) > 1 else None
    ties = {row for row in candidates if best is not None and _equal(row, best, values, spans)}
    p_values: dict[str, float | None] = {}
    if best is not None:
        p_values = p_values_against(best, candidates, {row: values[row] for row in samplers})
    floor = values[metric.floor] if metric.floor in whole and sign and not void else {}
    most = max(results.planned(row, column.label) for row in values)
    entries = []
    for row in shape.rows:
        name = row.row
        printed = {version: published.find(version, metric, column, row) for version in metric.published}
        competes = name in whole and row in visible
        better = best is not None and competes and sign * spans[name].mean < sign * spans[best].mean
        entries.append(
            Entry(
                row=name,
                column=column.label,
                metric=metric.metric,
                interval=spans.get(name),
                runs=results.finished(name, column.label),
                expected=results.planned(name, column.label),
                most=most,
                exact=exact[name],
                published={version: number for version, number in printed.items() if number is not None},
                best=name == best or name in ties,
                p_value=p_values.get(name),
                untested=name in p_values and p_values[name] is None and name not in ties,
                beats_best=better and row.role is Role.variant,
                closed_form=known[name],
                within_floor=name != metric.floor
                and not without[name]
                and within_floor(values[name], floor, sign),
                without_value=without[name],
            )
        )
    return entries


def _equal(
    one: str, other: str, values: Mapping[str, Mapping[int, float]], spans: Mapping[str, Interval]
) -> bool:
    """Whether two rows have the same values seed by seed, or the same mean; but for rounding."""
    same = math.isclose(spans[one].mean, spans[other].mean, rel_tol=EQUAL)
    return same or alike(values[one], values[other])


def within_floor(values: Mapping[int, float], floor: Mapping[int, float], sign: float) -> bool:
    """Whether a one-sided paired t-test over shared seeds fails to find `values` worse than `floor`.

    False where there is no test (fewer than two shared seeds, differences that do not vary), and where the
    means over all seeds contradict those over the shared ones.

    Args:
        values: a row's values by seed.
        floor: those of perfect draws.
        sign: 1 where smaller is better, -1 where larger is.
    """
    two_sided = paired_p_value(values, floor)
    if two_sided is None or contradicted(values, floor):
        return False
    worse = sum(sign * (values[seed] - floor[seed]) for seed in values.keys() & floor.keys()) > 0.0
    return not worse or two_sided / 2 >= ALPHA
