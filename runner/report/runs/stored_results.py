"""The runs of a table and what is asked of them: values, intervals and notes by row and column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from metrics.inference.few_seeds import Interval, interval
from runner.catalogue.metric_paths import own_metrics
from runner.execution.errors import UserError
from runner.integrity.source import named
from runner.report.runs.experiment_run import Run
from runner.tasks.task import task_of

if TYPE_CHECKING:
    import pandas as pd
    from omegaconf import DictConfig


VOID = "its floor and its ranking are void"
"""How a run's note ends where its reference samples differ (`runner.problem.cached_reference_sample`)."""


@dataclass(frozen=True)
class Results:
    """All runs of an experiment.

    Attributes:
        random_runs: whether a seed changes the numbers of any; None where their tasks were not asked.
    """

    runs: tuple[Run, ...]
    random_runs: bool | None = None

    @cached_property
    def _places(self) -> dict[tuple[str, str], list[Run]]:
        """The runs by row and column: a table asks for each place some twenty times."""
        places: dict[tuple[str, str], list[Run]] = {}
        for run in self.runs:
            places.setdefault((run.row, run.column), []).append(run)
        return places

    def at(self, row: str, column: str) -> Sequence[Run]:
        """The runs of one row and column, by seed."""
        return self._places.get((row, column), ())

    def config(self, row: str, column: str) -> DictConfig | None:
        """The configuration of a run of one row and column; None where none is to be run.

        Of a row of exact values that of any other run there: in a record it has no runs of its own.
        """
        runs = self.at(row, column) or [run for run in self.runs if run.column == column]
        return runs[0].config if runs else None

    def values(self, row: str, column: str, metric: str) -> dict[int, float]:
        """Final values of `metric` by seed, of the runs that are done and have a finite one.

        Where several runs of a seed have one, such as commands with other metrics made, the first counts.
        """
        return _by_seed((run.seed, run.value(metric)) for run in self.at(row, column))

    def without_value(self, row: str, column: str, metric: str) -> int:
        """How many seeds have no finite value of `metric` though a run failed, or measured it.

        Such is the time to a target that was not reached. None where the table has an expectation.
        """
        runs = self.at(row, column)
        if self.known(row, column, metric):
            return 0
        done = [run for run in runs if run.summary is not None]
        if done and not any(run.measured(metric) for run in done):
            return 0  # nobody asked these runs for it
        found = {run.seed for run in runs if run.is_without(metric)}
        return len(found - self.values(row, column, metric).keys())

    def coverage(self, row: str, column: str, metric: str) -> tuple[int, int]:
        """Of how many seeds `interval` is, and of how many it would be if none were `without_value`."""
        found = len(self.shown(row, column, metric))
        return found, found + self.without_value(row, column, metric)

    def known(self, row: str, column: str, metric: str) -> dict[int, float]:
        """The expectation of `metric` by seed, of runs that have it in closed form (`Run.expectation`)."""
        return _by_seed((run.seed, run.expectation(metric)) for run in self.at(row, column))

    def interval(self, row: str, column: str, metric: str) -> Interval | None:
        """Mean and interval of `metric` over seeds, in its own unit; its expectation where that is known."""
        return interval(list(self.shown(row, column, metric).values()))

    def shown(self, row: str, column: str, metric: str) -> dict[int, float]:
        """The values by seed that `interval` is of, which tests and fits take, too."""
        return self.known(row, column, metric) or self.values(row, column, metric)

    def planned(self, row: str, column: str) -> int:
        """How many seeds one row and column have."""
        return len({run.seed for run in self.at(row, column)})

    def finished(self, row: str, column: str) -> int:
        """How many seeds of one row and column are done."""
        return len({run.seed for run in self.at(row, column) if run.status == "done"})

    def measured_seeds(self) -> dict[tuple[str, str], set[int]]:
        """The seeds that have a run that is done, by row and column."""
        places: dict[tuple[str, str], set[int]] = {}
        for run in self.runs:
            if run.summary is not None:
                places.setdefault((run.row, run.column), set()).add(run.seed)
        return places

    def evaluations(self, row: str, column: str) -> float | None:
        """Mean evaluations of the target per chain of one row and column; None where no run tells."""
        done = [run.summary for run in self.at(row, column) if run.summary and run.exact_values is None]
        found = [float(summary["evaluations"]) for summary in done if summary.get("evaluations") is not None]
        return sum(found) / len(found) if found else None

    @cached_property
    def own_metrics(self) -> dict[str, str]:
        """The paths of the classes of the user's own metrics, by the names of the metrics."""
        configs = {id(run.config): run.config for run in self.runs}.values()
        groups = (own_metrics(config.get("metric")) for config in configs)
        return {name: path for group in groups for name, path in group.items()}

    @property
    def growths(self) -> Mapping[str, str]:
        """Sentences on growths along the runs, by name, where the runs are gone: here they are not."""
        return {}

    @property
    def seeds(self) -> int:
        """The most seeds that a row has in a column; 0 where nothing in any run is random."""
        if not self.random:
            return 0
        return max(self.planned(*place) for place in self._places)

    @property
    def random(self) -> bool:
        """Whether a seed changes the numbers of any run."""
        if self.random_runs is None:
            return any(map(_is_random, self.runs))
        return self.random_runs

    @property
    def columns(self) -> list[str]:
        """Labels of the columns that have a job, in the order of the jobs."""
        return list(dict.fromkeys(run.column for run in self.runs))

    @property
    def rows(self) -> set[str]:
        """Labels of the rows that have a job, or exact values."""
        return {run.row for run in self.runs}

    def notes(self, column: str) -> list[str]:
        """Notes of a column's runs on their data, such as that it is a subset."""
        noted = [run.summary.get("notes") or [] for run in self.runs if run.column == column and run.summary]
        return list(dict.fromkeys(_sentence(str(note)) for notes in noted for note in notes))

    def void(self, column: str) -> bool:
        """Whether the floor of a column, and with it the ranking of its rows, is void."""
        return any(VOID in note for note in self.notes(column))

    @property
    def threads(self) -> list[int]:
        """Numbers of CPU threads that the finished runs had, in any attempt, as far as manifests say so."""
        manifests = [run.folder.manifest() or {} for run in self.runs if run.summary is not None]
        attempts = [each for found in manifests for each in (found, *found.get("attempts", []))]
        return sorted({each["threads"] for each in attempts if "threads" in each})

    @property
    def sources(self) -> Mapping[str, int]:
        """How many finished runs each version of the source code has computed, by its name."""
        measured = (run for run in self.runs if run.exact_values is None)
        done = {run.run_id: run.summary for run in measured if run.summary is not None}
        return dict(Counter(named(each) for found in done.values() for each in found.get("sources") or []))

    def exact(self, row: str) -> bool | None:
        """Whether the row's kernel claims exactness; None while no run of it is done, or has any."""
        claims = [run.summary["exact"] for run in self.runs if run.row == row and run.summary]
        known = [bool(claim) for claim in claims if claim is not None]
        return all(known) if known else None

    def curves(self, row: str, column: str, metric: str) -> pd.DataFrame:
        """`metric` along the runs: seed, step, evaluations, seconds, value; empty where none is done.

        Where several runs of a seed measured it, the first counts, as in `values`.
        """
        return self.curves_of(row, column, [metric])[metric]

    def curves_of(self, row: str, column: str, metrics: Collection[str]) -> dict[str, pd.DataFrame]:
        """The `curves` of each of `metrics`, for which the rows of a run are read once."""
        import pandas as pd

        parts: dict[str, dict[int, pd.DataFrame]] = {metric: {} for metric in metrics}
        for run in self.at(row, column):
            rows = run.folder.metrics() if run.summary is not None else None
            if rows is not None:
                for metric, own in rows.loc[rows["metric"].isin(metrics)].groupby("metric"):
                    parts[str(metric)].setdefault(run.seed, own.assign(seed=run.seed))
        names = ["seed", "step", "evaluations", "seconds", "value"]
        return {
            metric: pd.concat(of.values(), ignore_index=True)[names] if of else pd.DataFrame(columns=names)
            for metric, of in parts.items()
        }

    def coverage_along(self, row: str, column: str, seeds: Collection[int]) -> tuple[int, int]:
        """Of how many seeds curves of these `seeds` are, and of how many if no run of another had failed."""
        failed = {run.seed for run in self.at(row, column) if run.status == "failed"}
        return len(seeds), len(failed.union(seeds))

    @property
    def scale(self) -> str:
        """Name of the budget that the runs have; empty where there is none."""
        return str(self.runs[0].config.scale.name) if self.runs else ""

    @property
    def counts(self) -> Counter[str]:
        """How many distinct runs have each status."""
        return Counter({run.run_id: run.status for run in self.runs}.values())

    @property
    def done(self) -> int:
        """Number of distinct runs that are done."""
        return self.counts["done"]

    @property
    def expected(self) -> int:
        """Number of distinct runs of the experiment."""
        return sum(self.counts.values())


def _is_random(run: Run) -> bool:
    """Whether a seed changes the numbers of `run`; supposed where there is no task, or its class is gone."""
    try:
        return "task" not in run.config or task_of(run.config).random
    except UserError:
        return True


def _by_seed(found: Iterable[tuple[int, float | None]]) -> dict[int, float]:
    """The first value of each seed that there is."""
    values: dict[int, float] = {}
    for seed, value in found:
        if value is not None:
            values.setdefault(seed, value)
    return values


def some_of(found: int, ran: int) -> str | None:
    """``3 of 5`` where so many of the runs have a value; None where all have one."""
    return f"{found} of {ran}" if found < ran else None


def _sentence(note: str) -> str:
    """A note with a capital letter and a full stop."""
    text = note.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
