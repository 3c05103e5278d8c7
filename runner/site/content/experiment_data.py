"""What the page of an experiment shows: its table, its numbers, where they come from, and its charts."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import OmegaConf

from runner.config.overrides import EXPERIMENT, Names
from runner.execution.errors import UserError
from runner.files.atomic_files import read_json
from runner.report.analysis.table_entries import summarise
from runner.report.budget import Planned, budget_sentence, planned
from runner.report.experiment_shape import experiment_shape
from runner.report.figures.metric_axis import Quantity
from runner.report.figures.style import row_styles
from runner.report.page.layout import Page, lay_out
from runner.report.page.markdown import REST, markdown
from runner.report.published import published_numbers
from runner.report.recorded.seed_values import read_labelled
from runner.report.runs.experiment_run import Run
from runner.report.runs.gathered import gather
from runner.report.runs.stored_results import Results, some_of
from runner.report.table_shape import Direction, TableShape
from runner.site.content.averages import averaged
from runner.site.content.charts import intervals_chart
from runner.site.content.curves import Curve, curves_of
from runner.site.content.experiment_places import TABLE, Place
from runner.site.content.panels.along import Course, curves_chart, curves_plot
from runner.site.content.panels.known import Known
from runner.site.content.panels.panel_chart import panel_chart
from runner.site.content.recorded_table import read_page
from runner.site.index.known_quantities import known_quantities
from runner.site.index.plans import planned_jobs
from runner.site.index.store_index import Index
from runner.store.folder_digests import damaged_files
from runner.store.run_folder import RunFolder
from runner.store.run_store import Store


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
        return self.place.tables if self.place.rendered else self.place.record

    @property
    def manifest(self) -> Mapping[str, Any]:
        """How the recorded table was measured; empty where there is none."""
        return read_json(self.place.record / "manifest.json") or {}

    @property
    def kept(self) -> list[str]:
        """The overrides that chose the runs whose numbers are shown."""
        if self.source in ("runs", "tables"):
            return self.place.kept
        return [str(line) for line in self.manifest.get("overrides") or []]

    @property
    def outdated(self) -> bool:
        """Whether the rendered files say something else than the page, which is made from the runs."""
        if self.source != "runs" or self.page is None:
            return False
        with suppress(OSError, ValueError):
            written = (self.folder / "table.md").read_text().partition(REST)[0]
            return written.strip() != markdown(replace(self.page, rest=None)).strip()
        return False


def experiment_data(
    place: Place, root: Path, hydra: Sequence[str], index: Index, started: bool
) -> ExperimentData:
    """What the runs say of an experiment; where none of them is done, what its rendered table says.

    Args:
        started: whether any of its runs is on disk.

    Raises:
        UserError: if there is no such experiment, or it has no table.
    """
    shape, why = experiment_shape(place.experiment, hydra), ""
    if started:
        try:
            noted = experiment_shape(place.experiment, [*hydra, *place.kept]) if place.kept else shape
            return _of_runs(place, noted, root, hydra, index)
        except UserError as error:
            why = str(error)
    return _written(place, shape, why, _sweep(place.experiment, hydra), index)


def _of_runs(
    place: Place, shape: TableShape, root: Path, hydra: Sequence[str], index: Index
) -> ExperimentData:
    """From the runs; where none is done, what was written, with the counts of the runs."""
    overrides = place.overrides(hydra, root)
    jobs = planned_jobs(place.experiment, overrides, index)
    results = gather(place.experiment, shape, jobs, Store(root))
    if not results.done:
        written = _written(place, shape, "", results, index)
        return ExperimentData(**{**vars(written), "counts": results.counts, "run_ids": _ids(results)})
    shape = shape.restricted(results.columns, results.rows)
    summary = summarise(shape, results, published_numbers(shape))
    known = _planned(place, results, index)
    command = shlex.join(["python", "-m", "runner", "-m", f"+experiment={place.experiment}", *overrides])
    budget = budget_sentence(results, known)
    page = lay_out(shape, summary, replace(results, random_runs=known.random), budget, command)
    frame = summary.frame(shape)
    charts = charts_of(shape, results, frame, index)
    if along := run_charts(shape, results, index):
        charts["curves"] = along
    return ExperimentData(place, shape, page, frame, "runs", results.counts, _ids(results), charts)


def _planned(place: Place, results: Results, index: Index) -> Planned:
    """What the tasks of an experiment say of its runs, from the index where it is known: they need torch."""
    kept = index.kept.setdefault("budgets", {})
    key = " ".join([place.key, *place.kept])
    if key not in kept:
        kept[key] = asdict(planned(results))
    return Planned(**kept[key])


def _sweep(experiment: str, hydra: Sequence[str]) -> Results:
    """The rows of an experiment as its sweep names them, none of them run: they say which sampler each is."""
    sweep = Names(hydra).composed(f"+{EXPERIMENT}={experiment}").get("sweep") or {}
    rows = []
    for row in sweep.get("rows") or []:
        config = {"sampler": {"name": row.get("sampler")}, "task": {"method": row.get("task.method")}}
        nothing = RunFolder(Path(row["row"]))
        rows.append(Run(row["row"], "", 0, "", "missing", OmegaConf.create(config), None, nothing))
    return Results(tuple(rows))


def _written(place: Place, shape: TableShape, why: str, rows: Results, index: Index) -> ExperimentData:
    """From the rendered table, or else the recorded one; `rows` say which sampler each row is."""
    for source, folder in (("tables", place.tables), ("record", place.record)):
        try:
            frame = read_labelled(folder / TABLE)
            page = read_page((folder / "table.md").read_text(), shape.versions)
            if len(page.blocks) != len(metrics_of(frame)):
                raise ValueError(f"table.md and {TABLE} have not the same metrics")
            if changed := damaged_files(folder):
                why = why or f"The table in {folder} is not as it was written: {', '.join(changed)}."
            shape = shape.restricted(set(frame["cell"]), set(frame["row"]))
            charts = charts_of(shape, rows, frame, index)
            return ExperimentData(place, shape, page, frame, source, charts=charts, why=why)
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, AssertionError) as error:
            why = f"The table in {folder} cannot be read ({error})."
    return ExperimentData(place, shape, None, pd.DataFrame(), "", why=why)


def metrics_of(frame: pd.DataFrame) -> list[str]:
    """The metrics of a table's numbers, in the order of the blocks of its page."""
    return list(dict.fromkeys(frame["metric"])) if "metric" in frame else []


def _ids(results: Results) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for run in results.runs:
        found.setdefault((run.row, run.column), []).append(run.run_id)
    return found


def _quantities(
    shape: TableShape, names: Collection[str], index: Index, own: Mapping[str, str] | None
) -> dict[str, Quantity]:
    """Unit, range and direction of metrics, the direction that of the table where it has one."""
    compared = {metric.metric: metric.direction for metric in shape.metrics}
    found = known_quantities(names, index, own)
    return {name: quantity.compared(compared.get(name, Direction.none)) for name, quantity in found.items()}


def charts_of(shape: TableShape, results: Results, frame: pd.DataFrame, index: Index) -> dict[str, Any]:
    """The chart of the table's numbers, and that of the panels that show something else."""
    names = {metric.metric: metric.name for metric in shape.metrics}
    versions = [version for version in shape.versions if f"published_{version}" in frame]
    own_metrics = results.own_metrics or None
    styles, known = row_styles(shape, results), _quantities(shape, names, index, own_metrics)
    shown = {metric: {row.row for row in shape.rows_of(metric)} for metric in names}
    places = zip(frame["metric"], frame["row"], strict=True)
    own = frame[[row in shown.get(metric, ()) for metric, row in places]]
    charts = {"intervals": intervals_chart(own, names, known, styles, versions)}
    if panels := panel_chart(shape, results, frame, styles, Known(index, own_metrics)):
        charts["panels"] = panels
    return charts


def run_charts(shape: TableShape, results: Results, index: Index) -> dict[str, Any] | None:
    """The table's metrics along the runs, one plot a metric and column; None where nothing was recorded."""
    styles = row_styles(shape, results)
    read: dict[Path, dict[str, Curve]] = {}
    plots = []
    named = {metric.metric: metric.name for metric in shape.metrics}
    named |= {
        panel.metric: named[panel.metric]
        for figure in shape.figures
        for panel in figure.panels
        if panel.metric
    }
    known = _quantities(shape, named, index, results.own_metrics)
    for metric, name in named.items():
        for column in shape.columns:
            courses = {}
            for row in shape.rows_of(metric):
                curves: dict[int, Curve] = {}
                for run in results.at(row.row, column.label):
                    if run.summary is not None and (found := _curve(run, metric, read)) is not None:
                        curves.setdefault(run.seed, found)
                points = averaged(curves.values())
                if sum(point.span is not None for point in points) > 1:
                    partial = some_of(*results.coverage_along(row.row, column.label, curves))
                    courses[row.row] = Course(points, partial)
            if courses:
                plot = curves_plot(known[metric], name, courses, styles)
                plots.append(plot | {"column": column.label})
    return curves_chart(plots) if plots else None


def _curve(run: Run, metric: str, read: dict[Path, dict[str, Curve]]) -> Curve | None:
    path = run.folder.path / "metrics.csv"
    if path not in read:
        read[path] = curves_of(path)
    return read[path].get(metric)
