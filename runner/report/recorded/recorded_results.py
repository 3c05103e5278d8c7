"""The results of a recorded table whose runs are gone: what its files keep of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from metrics.inference.few_seeds import Interval
from runner.files.atomic_files import read_json
from runner.report.analysis.table_entries import EQUAL, interval_of, lost_of
from runner.report.recorded.said import Said, kept, place_of
from runner.report.recorded.seed_values import SEEDS, read_labelled, read_seed_values
from runner.report.runs.stored_results import Results


@dataclass(frozen=True)
class RecordedResults(Results):
    """Runs that are not there, with the numbers of their table; `runs` say what was to be computed.

    Attributes:
        frame: the table, as `runner.report.analysis.table_entries.Summary.frame` gave it.
        seed_values: by row, column and metric the value of each seed; empty in a record without them.
        said: what the page says of the runs; None in a record that does not keep it.
        statuses: how many runs have each status.
    """

    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    seed_values: Mapping[tuple[str, str, str], Mapping[int, float]] = field(default_factory=dict)
    said: Said | None = None
    statuses: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def lines(self) -> dict[tuple[str, str, str], dict[str, Any]]:
        """The lines of the table by row, column and metric."""
        return {
            (str(line["row"]), str(line["cell"]), str(line["metric"])): {
                str(key): value for key, value in line.items()
            }
            for line in self.frame.to_dict("records")
        }

    @cached_property
    def _seeds_at(self) -> dict[tuple[str, str], tuple[int, int]]:
        """How many seeds are done and there were in all, by row and column."""
        return {
            (row, column): (int(line["runs"]), int(line["runs_expected"]))
            for (row, column, _), line in self.lines.items()
        }

    def values(self, row: str, column: str, metric: str) -> dict[int, float]:
        """Final values of `metric` by seed."""
        return dict(self.seed_values.get((row, column, metric), {}))

    def without_value(self, row: str, column: str, metric: str) -> int:
        """How many seeds have no finite value of `metric` though a run failed, or measured it."""
        line = self.lines.get((row, column, metric))
        return 0 if line is None or self.known(row, column, metric) else lost_of(line)

    def coverage(self, row: str, column: str, metric: str) -> tuple[int, int]:
        """Of how many seeds `interval` is, and of how many it would be if none were `without_value`."""
        span = self.interval(row, column, metric)
        found = 0 if span is None else span.n
        return found, found + self.without_value(row, column, metric)

    def known(self, row: str, column: str, metric: str) -> dict[int, float]:
        """The expectation of `metric` for each seed, where the table has it in closed form.

        The values of seeds, where it is their mean: a row of exact values. Those of draws are estimates.
        """
        if self.said is None or place_of(row, column, metric) not in self.said.closed_form:
            return {}
        line = self.lines[row, column, metric]
        seeds, mean, number = self.values(row, column, metric), float(line["mean"]), int(line["n"])
        if seeds and math.isclose(sum(seeds.values()) / len(seeds), mean, rel_tol=EQUAL):
            return seeds
        return dict.fromkeys(seeds if len(seeds) == number else range(number), mean)

    def interval(self, row: str, column: str, metric: str) -> Interval | None:
        """Mean and interval of `metric` that the table has."""
        line = self.lines.get((row, column, metric))
        return None if line is None or pd.isna(line["mean"]) else interval_of(line)

    def planned(self, row: str, column: str) -> int:
        """How many seeds one row and column have."""
        counts = self._seeds_at.get((row, column))
        return super().planned(row, column) if counts is None else counts[1]

    def finished(self, row: str, column: str) -> int:
        """How many seeds of one row and column are done."""
        counts = self._seeds_at.get((row, column))
        return super().finished(row, column) if counts is None else counts[0]

    def exact(self, row: str) -> bool | None:
        """Whether the row's kernel claims exactness; None where no run of it was done."""
        claims = self.frame.loc[self.frame["row"] == row, "exact"].dropna()
        return None if claims.empty else all(str(claim) == "True" for claim in claims)

    def measured_seeds(self) -> dict[tuple[str, str], set[int]]:
        """The seeds that have a value, by row and column."""
        places: dict[tuple[str, str], set[int]] = {}
        for (row, column, _), values in self.seed_values.items():
            places.setdefault((row, column), set()).update(values)
        return places

    def evaluations(self, row: str, column: str) -> float | None:
        """Mean evaluations of the target per chain of one row and column; None in an earlier record."""
        return None if self.said is None else self.said.evaluations.get(column, {}).get(row)

    def notes(self, column: str) -> list[str]:
        """Notes of a column's runs on their data."""
        return [] if self.said is None else list(self.said.notes.get(column, []))

    @property
    def growths(self) -> Mapping[str, str]:
        """Sentences on growths along the runs."""
        return {} if self.said is None else self.said.growths

    @property
    def seeds(self) -> int:
        """The most seeds that a row has in a column; 0 where nothing in any run is random."""
        return super().seeds if self.said is None else self.said.seeds

    @property
    def threads(self) -> list[int]:
        """Numbers of CPU threads that the finished runs had."""
        return [] if self.said is None else self.said.threads

    @property
    def sources(self) -> Mapping[str, int]:
        """How many finished runs each version of the source code has computed."""
        return {} if self.said is None else self.said.sources

    @property
    def counts(self) -> Counter[str]:
        """How many distinct runs have each status."""
        return Counter(self.statuses)


def recorded_results(planned: Results, folder: Path) -> RecordedResults:
    """What the record in `folder` keeps of the runs that are `planned`, done or not."""
    manifest = read_json(folder / "manifest.json") or {}
    return RecordedResults(
        planned.runs,
        planned.random_runs,
        frame=read_labelled(folder / "table.csv"),
        seed_values=read_seed_values(folder / SEEDS),
        said=kept(manifest),
        statuses=manifest.get("runs", {}).get("by_status", {}),
    )
