"""Jobs and tables of experiments, composed once for a file of tests, and made-up runs for tables."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
from omegaconf import DictConfig, OmegaConf

from runner.report.experiment_shape import experiment_shape
from runner.report.figure_shape import PanelShape
from runner.report.figures.panel import PanelData
from runner.report.figures.style import row_styles
from runner.report.published import Published, published_numbers
from runner.report.runs.experiment_run import Run
from runner.report.runs.gathered import gather
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape, table_shape
from runner.store.run_store import Store
from runner.sweep.jobs import Job, experiment_jobs

NOTHING = Store("nowhere")


@functools.cache
def jobs_at(experiment: str, *overrides: str) -> list[Job]:
    return experiment_jobs(experiment, list(overrides))


@functools.cache
def shape_of(experiment: str) -> TableShape:
    return experiment_shape(experiment)


def placed(experiment: str, *overrides: str) -> Results:
    """Every run of the jobs, in its place of the table; none is done."""
    return gather(experiment, shape_of(experiment), jobs_at(experiment, *overrides), NOTHING)


def ids(jobs: Iterable[Job]) -> set[str]:
    """The runs of `jobs`."""
    return {run_id for job in jobs for run_id in job.run_ids.values()}


def printed(experiment: str) -> dict[tuple[str, str, str, str], Published]:
    """The published numbers beside those of the table, by version, metric, column and row."""
    shape = shape_of(experiment)
    numbers = published_numbers(shape)
    return {
        (version, metric.metric, column.label, row.row): number
        for metric in shape.metrics
        for version in metric.published
        for column in shape.columns
        for row in shape.rows
        if (number := numbers.find(version, metric, column, row))
    }


def shape_from(block: str) -> TableShape:
    """The table that `block`, in YAML, describes."""
    return table_shape("made", cast(DictConfig, OmegaConf.create(block)))


def finished(
    row: str,
    column: str,
    seed: int,
    config: Mapping[str, Any],
    metrics: Mapping[str, Any],
    folder: Path = Path("nowhere"),
    **more: Any,
) -> Run:
    """A run that is done.

    Of `more`, `curve` is what its folder holds of the way and `manifest` its manifest, the rest its summary.
    """
    curve = more.pop("curve", pd.DataFrame())
    manifest = more.pop("manifest", None)
    kept = SimpleNamespace(path=folder, metrics=lambda: curve, manifest=lambda: manifest)
    summary = {"metrics": metrics, "seconds": 1.0, "exact": True, **more}
    whole = cast(DictConfig, OmegaConf.create(dict(config)))
    return Run(row, column, seed, f"{row}-{column}-{seed}", "done", whole, summary, cast(Any, kept))


def panel_data(shape: TableShape, results: Results, *columns: str, **panel: Any) -> PanelData:
    """A panel of all rows of `shape`, with the keys `panel`."""
    given = PanelShape(kind="", title="", columns=list(columns), **panel)
    return PanelData(shape, given, shape.rows, results, row_styles(shape, results))
