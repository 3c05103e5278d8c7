"""What the page of an experiment shows: its table, its numbers, where they come from, and its charts."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import OmegaConf

from runner.config.overrides import EXPERIMENT, Names
from runner.execution.errors import UserError
from runner.files.atomic_files import read_json
from runner.report.analysis.table_entries import summarise
from runner.report.experiment_shape import experiment_shape
from runner.report.figures.metric_axis import quantity_of
from runner.report.figures.style import row_styles
from runner.report.page.layout import Page, lay_out
from runner.report.published import published_numbers
from runner.report.stored_results import Results, Run, gather
from runner.report.table_shape import TableShape
from runner.site.content.averages import averaged
from runner.site.content.charts import curves_chart, curves_plot, intervals_chart
from runner.site.content.curves import Curve, curves_of
from runner.site.content.experiment_places import Place
from runner.site.content.recorded_table import read_page
from runner.site.index.plans import planned_jobs
from runner.site.index.store_index import Index
from runner.store.run_folder import RunFolder
from runner.store.run_store import Store

TABLE = "table.csv"


@dataclass(frozen=True)
class ExperimentData:
    """What is known of an experiment at a scale.

    Attributes:
        place: what it is, and where.
        shape: its table; only the columns that it has there.
        page: the table as text; None where there are no numbers at all.
        frame: the table's numbers; see `runner.report.analysis.table_entries.Summary.frame`.
        source: ``runs``, ``tables`` or ``record``: what the numbers were read from.
        counts: how many of its runs have each status; empty where they are not known.
        run_ids: its runs by row and column.
        charts: by name, as `runner.site.content.charts` makes them.
        why: one sentence on what is missing or cannot be read.
    """

    place: Place
    shape: TableShape
    page: Page | None
    frame: pd.DataFrame
    source: str
    counts: Counter[str] = field(default_factory=Counter)
    run_ids: Mapping[tuple[str, str], list[str]] = field(default_factory=dict)
    charts: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""

    @property
    def folder(self) -> Path:
        """The folder of its rendered files."""
        return self.place.tables if (self.place.tables / TABLE).is_file() else self.place.record

    @property
    def manifest(self) -> Mapping[str, Any]:
        """How the recorded table was measured; empty where there is none."""
        return read_json(self.place.record / "manifest.json") or {}


def experiment_data(place: Place, root: Path, hydra: Sequence[str], index: Index) -> ExperimentData:
    """What the runs say of an experiment; where none of them is done, what its rendered table says.

    Raises:
        UserError: if there is no such experiment, or it has no table.
    """
    shape, why = experiment_shape(place.experiment, hydra), ""
    if any(run.experiment == place.experiment and run.scale == place.scale for run in index.runs.values()):
        try:
            return _of_runs(place, shape, root, hydra, index)
        except UserError as error:
            why = str(error)
    return _written(place, shape, why, _sweep(place.experiment, hydra))


def _of_runs(
    place: Place, shape: TableShape, root: Path, hydra: Sequence[str], index: Index
) -> ExperimentData:
    """From the runs; where none is done, what was written, with the counts of the runs."""
    from runner.report.budget import budget_sentence

    overrides = place.overrides(hydra, root)
    jobs = planned_jobs(place.experiment, overrides, index)
    results = gather(place.experiment, shape, jobs, Store(root))
    if not results.done:
        written = _written(place, shape, "", results)
        return ExperimentData(**{**vars(written), "counts": results.counts, "run_ids": _ids(results)})
    shape = shape.restricted(results.columns)
    summary = summarise(shape, results, published_numbers(shape))
    command = shlex.join(["python", "-m", "runner", "-m", f"+experiment={place.experiment}", *overrides])
    page = lay_out(shape, summary, results, budget_sentence(results), command)
    charts = table_charts(shape, results, frame := summary.frame(shape))
    if along := run_charts(shape, results):
        charts["curves"] = along
    return ExperimentData(place, shape, page, frame, "runs", results.counts, _ids(results), charts)


def _sweep(experiment: str, hydra: Sequence[str]) -> Results:
    """The rows of an experiment as its sweep names them, none of them run: they say which sampler each is."""
    sweep = Names(hydra).composed(f"+{EXPERIMENT}={experiment}").get("sweep") or {}
    rows = []
    for row in sweep.get("rows") or []:
        config = {"sampler": {"name": row.get("sampler")}, "task": {"method": row.get("task.method")}}
        nothing = RunFolder(Path(row["row"]))
        rows.append(Run(row["row"], "", 0, "", "missing", OmegaConf.create(config), None, nothing))
    return Results(tuple(rows))


def _written(place: Place, shape: TableShape, why: str, rows: Results) -> ExperimentData:
    """From the rendered table, or else the recorded one; `rows` say which sampler each row is."""
    for source, folder in (("tables", place.tables), ("record", place.record)):
        try:
            frame = pd.read_csv(folder / TABLE)
            page = read_page((folder / "table.md").read_text(), shape.versions)
            labels = set(frame["cell"])
            shape = shape.restricted(labels)
            charts = table_charts(shape, rows, frame)
            return ExperimentData(place, shape, page, frame, source, charts=charts, why=why)
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, AssertionError) as error:
            why = f"The table in {folder} cannot be read ({error})."
    return ExperimentData(place, shape, None, pd.DataFrame(), "", why=why)


def _ids(results: Results) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for run in results.runs:
        found.setdefault((run.row, run.column), []).append(run.run_id)
    return found


def table_charts(shape: TableShape, results: Results, frame: pd.DataFrame) -> dict[str, Any]:
    """The chart of the table's numbers."""
    titles = {metric.metric: axis_title(metric.metric, metric.name) for metric in shape.metrics}
    versions = [version for version in shape.versions if f"published_{version}" in frame]
    return {"intervals": intervals_chart(frame, titles, row_styles(shape, results), versions)}


def run_charts(shape: TableShape, results: Results) -> dict[str, Any] | None:
    """The table's metrics along the runs, one plot a metric and column; None where nothing was recorded."""
    styles = row_styles(shape, results)
    read: dict[str, dict[str, Curve]] = {}
    plots = []
    named = {metric.metric: metric.name for metric in shape.metrics}
    named |= {
        panel.metric: named[panel.metric]
        for figure in shape.figures
        for panel in figure.panels
        if panel.metric
    }
    for metric, name in named.items():
        for column in shape.columns:
            lines = {}
            for row in shape.rows:
                runs = [run for run in results.at(row.row, column.label) if run.summary is not None]
                curves = [found for run in runs if (found := _curve(run, metric, read)) is not None]
                points = averaged(curves)
                if len(points) > 1:
                    lines[row.row] = points
            if lines:
                plots.append(
                    curves_plot(metric, axis_title(metric, name), lines, styles) | {"column": column.label}
                )
    return curves_chart(plots) if plots else None


def _curve(run: Run, metric: str, read: dict[str, dict[str, Curve]]) -> Curve | None:
    if run.run_id not in read:
        read[run.run_id] = curves_of(run.folder.path / "metrics.csv")
    return read[run.run_id].get(metric)


def axis_title(metric: str, name: str) -> str:
    """A metric's name with its unit."""
    unit = quantity_of(metric).unit
    return f"{name} ({unit})" if unit and "(" not in name and unit not in name.lower() else name
