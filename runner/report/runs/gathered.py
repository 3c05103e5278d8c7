"""The runs of an experiment as the store has them: every run of every job, done or not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from runner.report.runs.experiment_run import Run
from runner.report.runs.job_places import JobLike, placed_runs
from runner.report.runs.stored_results import Results
from runner.report.table_shape import RowShape, TableShape
from runner.store.run_folder import RunFolder

if TYPE_CHECKING:
    from runner.store.run_store import Store


def gather(experiment: str, shape: TableShape, jobs: Iterable[JobLike], store: Store) -> Results:
    """Every run of `jobs` with what the store holds of it.

    Raises:
        UserError: if a job has no place in the table, or two runs have the same one.
    """
    runs = []
    for placed in placed_runs(experiment, shape, jobs):
        folder, job = store.run(placed.run_id), placed.job
        status, summary = folder.standing()
        where = (job.row, placed.column, placed.seed, placed.run_id)
        runs.append(Run(*where, status, job.config, summary, folder))
    return Results((*runs, *(each for row in shape.rows for each in exact_values(row, runs))))


def exact_values(row: RowShape, runs: Sequence[Run]) -> Iterator[Run]:
    """For each seed of a column a run of `row` with the exact values that its runs have beside their own.

    A seed may be an instance of its target.
    """
    found: dict[tuple[str, int], tuple[Run, dict[str, float]]] = {}
    for run, metric in product(runs, row.exact):
        if (value := run.value(f"{metric}_{row.suffix}")) is not None:
            _, known = found.setdefault((run.column, run.seed), (run, {}))
            known.setdefault(metric, value)
    for run, known in found.values():
        summary = {"seconds": math.nan, "exact": True, "metrics": {}}
        # What the run has on disk, its way to the end and its draws, is not that of an exact value.
        nothing = RunFolder(run.folder.path / "exact values")
        yield replace(run, row=row.row, summary=summary, folder=nothing, exact_values=known)
