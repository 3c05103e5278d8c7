"""The results of runs together with those of other seeds in a record, whose runs may be gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from runner.report.recorded.recorded_results import RecordedResults
from runner.report.runs.stored_results import Results


@dataclass(frozen=True)
class ExtendedResults(Results):
    """Runs and a record of other seeds, as if all runs were there; curves and draws are those of the runs.

    `runs` are those that are added, and one that is not done for each row and column to which none is added.

    Attributes:
        recorded: the record; it has none of the seeds that are added to a row and column.
        manifest: that of the record.
        added: the runs of the new seeds alone.
    """

    recorded: RecordedResults = field(default_factory=lambda: RecordedResults(()))
    manifest: Mapping[str, Any] = field(default_factory=dict)
    added: Results = field(default_factory=lambda: Results(()))

    def values(self, row: str, column: str, metric: str) -> dict[int, float]:
        """Final values of `metric` by seed."""
        place = row, column, metric
        return _by_seed(self.recorded.values(*place), self.added.values(*place))

    def known(self, row: str, column: str, metric: str) -> dict[int, float]:
        """The expectation of `metric` by seed, where it is known in closed form: the same of each seed."""
        place = row, column, metric
        span, new = self.recorded.interval(*place), self.added.known(*place)
        if not self.added.at(row, column):
            return self.recorded.known(*place)
        if not new or span is None:
            return new
        before: Collection[int] = self.recorded.known(*place)
        if not self.recorded.values(*place):  # an earlier record, which does not say of which seeds
            before = [seed for seed in self.manifest["seeds"] if seed not in new][: len(before)]
        return _by_seed(dict.fromkeys(before, span.mean), new)

    def without_value(self, row: str, column: str, metric: str) -> int:
        """How many seeds have no finite value of `metric` though a run failed, or measured it."""
        place = row, column, metric
        return self.recorded.without_value(*place) + self.added.without_value(*place)

    def planned(self, row: str, column: str) -> int:
        """How many seeds one row and column have."""
        return self.recorded.planned(row, column) + self.added.planned(row, column)

    def finished(self, row: str, column: str) -> int:
        """How many seeds of one row and column are done."""
        return self.recorded.finished(row, column) + self.added.finished(row, column)

    def measured_seeds(self) -> dict[tuple[str, str], set[int]]:
        """The seeds that have a run that is done, by row and column."""
        places = self.added.measured_seeds()
        for place, seeds in self.recorded.measured_seeds().items():
            places.setdefault(place, set()).update(seeds)
        return places

    def evaluations(self, row: str, column: str) -> float | None:
        """Mean evaluations of the target per chain of one row and column; None where no run tells."""
        parts = [(part.evaluations(row, column), part.finished(row, column)) for part in self._parts]
        told = [(mean, number) for mean, number in parts if mean is not None and number]
        runs = sum(number for _, number in told)
        return sum(mean * number for mean, number in told) / runs if runs else None

    def exact(self, row: str) -> bool | None:
        """Whether the row's kernel claims exactness; None where no run of it claims anything."""
        claims = [claim for part in self._parts if (claim := part.exact(row)) is not None]
        return all(claims) if claims else None

    def notes(self, column: str) -> list[str]:
        """Notes of a column's runs on their data."""
        return list(dict.fromkeys(note for part in self._parts for note in part.notes(column)))

    @property
    def threads(self) -> list[int]:
        """Numbers of CPU threads that the finished runs had."""
        return sorted({number for part in self._parts for number in part.threads})

    @property
    def sources(self) -> Mapping[str, int]:
        """How many finished runs each version of the source code has computed."""
        return dict(sum((Counter(part.sources) for part in self._parts), Counter()))

    @property
    def counts(self) -> Counter[str]:
        """How many distinct runs have each status."""
        return self.recorded.counts + self.added.counts

    @property
    def _parts(self) -> tuple[Results, Results]:
        """The record and the runs, each for itself."""
        return self.recorded, self.added


def _by_seed(one: Mapping[int, float], other: Mapping[int, float]) -> dict[int, float]:
    """The values of both, in the order of their seeds."""
    return dict(sorted({**one, **other}.items()))
