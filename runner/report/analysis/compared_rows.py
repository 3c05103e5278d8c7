"""The pairs of rows that a table compares, in each of its columns, by a paired t-test over seeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from metrics.inference.few_seeds import (
    Interval,
    agreeing_p_value,
    contradicted,
    detectable_difference,
    holm,
    interval,
    paired_p_value,
)
from runner.report.runs.stored_results import Results
from runner.report.table_shape import ComparisonShape, MetricShape, TableShape


@dataclass(frozen=True)
class ComparedRows:
    """Two rows in one column; numbers are in the metric's own unit.

    Attributes:
        first, second: their values by seed.
        without_value: which runs have no finite value. Nothing is compared then, as the others are not a fair
            choice of them.
        holm_p_value: Holm-adjusted over all pairs of the table that have a test; None where there is none.
        tests: how many pairs have a test.
    """

    row: str
    against: str
    column: str
    metric: MetricShape
    first: dict[int, float]
    second: dict[int, float]
    without_value: str
    holm_p_value: float | None = None
    tests: int = 0

    @property
    def seeds(self) -> list[int]:
        """The seeds that both rows have."""
        return sorted(self.first.keys() & self.second.keys())

    @cached_property
    def difference(self) -> Interval | None:
        """The first less the second over these seeds; None where nothing is compared."""
        return None if self.without_value else interval([self.first[s] - self.second[s] for s in self.seeds])

    @cached_property
    def detectable(self) -> float | None:
        """The smallest true difference that the corrected test finds with 80 % power."""
        return (
            None if self.without_value else detectable_difference(self.first, self.second, tests=self.tests)
        )

    @property
    def contradicted(self) -> bool:
        """Whether the means over all seeds, which the table shows, are in the other order."""
        return contradicted(self.first, self.second)

    def record(self) -> dict[str, object]:
        """A line of comparisons.csv."""
        span = self.difference
        return {
            "row": self.row,
            "against": self.against,
            "cell": self.column,
            "metric": self.metric.metric,
            "difference": span.mean if span else None,
            "lo": span.lo if span else None,
            "hi": span.hi if span else None,
            "n": len(self.seeds),
            "p_value": paired_p_value(self.first, self.second) if span else None,
            "holm_p_value": self.holm_p_value,
            "tests": self.tests,
            "detectable": self.detectable,
            "contradicted": span is not None and self.contradicted,
            "without_value": self.without_value,
        }


def compared_rows(shape: TableShape, results: Results) -> list[ComparedRows]:
    """The table's comparisons, each in all of its columns.

    Where the means over the shared seeds are in the other order than those over all seeds, the p-value is 1.
    """
    pairs = [(one, column.label) for one in shape.comparisons for column in shape.columns if column.table]
    untested = [_compared(shape, results, one, column) for one, column in pairs]
    tested = [None if one.without_value else agreeing_p_value(one.first, one.second) for one in untested]
    tests = sum(p_value is not None for p_value in tested)
    return [
        replace(one, holm_p_value=p_value, tests=tests)
        for one, p_value in zip(untested, holm(tested), strict=True)
    ]


def _compared(shape: TableShape, results: Results, comparison: ComparisonShape, column: str) -> ComparedRows:
    """Two rows in one column, not tested yet."""
    row, against = comparison.rows
    return ComparedRows(
        row=row,
        against=against,
        column=column,
        metric=shape.metric(comparison.metric),
        first=results.shown(row, column, comparison.metric),
        second=results.shown(against, column, comparison.metric),
        without_value=_without_value(results, comparison, column),
    )


def _without_value(results: Results, comparison: ComparisonShape, column: str) -> str:
    """Which runs have no finite value: ``2 of 5 runs of ACS have no finite value``; nothing if all have."""
    said = []
    for row in comparison.rows:
        if lost := results.without_value(row, column, comparison.metric):
            done = lost + len(results.values(row, column, comparison.metric))
            said.append(f"{lost} of {done} runs of {row}")
    return f"{' and '.join(said)} have no finite value" if said else ""
