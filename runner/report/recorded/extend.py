"""Adds the runs of new seeds to a recorded table; the runs of the recorded seeds may be gone."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from runner.config.choices import LABEL
from runner.execution.errors import UserError
from runner.execution.override_values import key_of
from runner.files.atomic_files import read_json
from runner.report.budget import budget
from runner.report.page.kept_overrides import besides_scale, differing
from runner.report.recorded.agreement import check_agreement
from runner.report.recorded.extendable import needs_all_runs
from runner.report.recorded.extended_results import ExtendedResults
from runner.report.recorded.merged_manifest import SEED, TUNINGS, with_seeds
from runner.report.recorded.recorded_results import RecordedResults, recorded_results
from runner.report.recorded.redraw import checked_digests
from runner.report.recorded.said import SAID
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape


def extended(
    shape: TableShape,
    results: Results,
    overrides: Sequence[str],
    folder: Path,
    planned: Callable[[Sequence[str]], Results],
) -> tuple[ExtendedResults, list[str]]:
    """`results` together with those of the recorded table in `folder`, and the overrides that both have.

    Args:
        shape: the table of the experiment, with all that it has today.
        results: the runs of the new seeds, of all or some of the record's rows and columns.
        overrides: those of the command, besides the experiment.
        planned: gives the runs that other overrides are of, done or not.

    Raises:
        UserError: if there is no such record, it is damaged, or of a version that kept less; if more than the
            choice of seeds, rows and columns differs, as far as overrides, budget and metrics tell; if a run
            is not done; or if the table needs the curves, draws or states of all runs.
    """
    checked_digests(folder)
    manifest = read_json(folder / "manifest.json") or {}
    if _is_of_an_earlier_version(manifest):
        raise UserError(
            f"The record {folder} is of an earlier version, which did not keep all that adding seeds needs: "
            "--record writes it anew where all of its runs are done."
        )
    recorded = recorded_results(Results(()), folder)
    check_agreement(shape, recorded, str(folder))
    own, new = set(besides_scale(overrides)), sorted({run.seed for run in results.runs})
    others = [line for line in overrides if line not in own]
    plan = planned([*others, *with_seeds(manifest["overrides"], new)])
    places = [place for row, column, _ in recorded.lines if recorded.planned(*(place := (row, column)))]
    for obstacles in (
        _other_settings(manifest, plan, results, overrides),
        _other_numbers(shape.restricted(results.columns, results.rows), recorded, places, results),
        _wrong_seeds(manifest, recorded, results),
    ):
        _refuse(folder, obstacles)
    there = {(run.row, run.column) for run in results.runs}
    first = {place: plan.at(*place)[0] for place in dict.fromkeys(places) if plan.at(*place)}
    runs = (
        replace(run, summary=None, status="missing") for place, run in first.items() if place not in there
    )
    both = ExtendedResults((*results.runs, *runs), results.random_runs, recorded, manifest, results)
    rows, columns = ({place[position] for place in places} for position in (0, 1))
    _refuse(folder, needs_all_runs(shape.restricted({*columns, *plan.columns}, {*rows, *plan.rows}), both))
    gone = (place for place in places if place not in there and place not in first)
    _refuse(folder, (f"no run of '{row}' in '{column}' is planned now" for row, column in gone))
    seeds = set[int]().union(*both.measured_seeds().values())
    return both, [*others, *with_seeds(manifest["overrides"], seeds)]


def _refuse(folder: Path, obstacles: Iterable[str]) -> None:
    for what in obstacles:
        raise UserError(f"The record {folder} cannot be extended: {what}.")


def _is_of_an_earlier_version(manifest: Mapping[str, Any]) -> bool:
    """Whether a record lacks something that is put together with what the new runs have."""
    said = manifest.get(SAID, {})
    whole = "overrides" in manifest and {"sources", "evaluations"} <= said.keys()
    return not whole or (TUNINGS not in manifest and manifest["seconds"]["tuning"] > 0)


def _other_settings(
    manifest: Mapping[str, Any], plan: Results, results: Results, overrides: Sequence[str]
) -> Iterator[str]:
    """What makes runs others than those which the record's overrides give now, or gave when it was made."""
    ids = {(run.row, run.column, run.seed): run.run_id for run in plan.runs}
    other = [
        run for run in results.runs if ids.get((run.row, run.column, run.seed), run.run_id) != run.run_id
    ]
    if other:
        then, now = (
            [line for line in lines if key_of(line) not in (SEED, LABEL)]
            for lines in (manifest["overrides"], besides_scale(overrides))
        )
        yield from differing(then, now)
        yield f"with its overrides '{other[0].row}' in '{other[0].column}' is another run"
    given = budget(plan.runs[0].config)
    for key, value in manifest["budget"].items():
        if given.get(key) != value:
            yield f"its task.{key} is {value}, and that of this table {given.get(key)}"


def _other_numbers(
    shape: TableShape, recorded: RecordedResults, places: Container[tuple[str, str]], results: Results
) -> Iterator[str]:
    """Rows and columns, or metrics, that the record lacks."""
    for run in results.runs:
        if (run.row, run.column) not in places and shape.column(run.column).table:
            yield f"this table has '{run.row}' in '{run.column}', which it lacks"
    metrics = {metric for *_, metric in recorded.lines}
    for metric in shape.metrics:
        if metric.metric not in metrics:
            yield f"this table has the metric {metric.metric}, which it lacks"


def _wrong_seeds(manifest: Mapping[str, Any], recorded: RecordedResults, results: Results) -> Iterator[str]:
    """Seeds that both have, or that are not done in every row and column."""
    runs, new = manifest["runs"], sorted({run.seed for run in results.runs})
    held = recorded.measured_seeds()
    both = {run.seed for run in results.runs if run.seed in held.get((run.row, run.column), ())}
    for run in results.runs:  # some of the seeds there may have no finite value
        place = run.row, run.column
        if len(held.get(place, ())) < recorded.planned(*place) and run.seed in manifest["seeds"]:
            both.add(run.seed)
    if both:
        word = "seed" if len(both) == 1 else "seeds"
        yield f"it has {word} {', '.join(map(str, sorted(both)))} already; give the new ones alone"
    if runs["done"] < runs["expected"]:
        yield f"{runs['done']} of its {runs['expected']} runs were done, and all must be"
    if results.done < results.expected:
        yield f"{results.done} of the {results.expected} new runs are done, and all must be"
    for run in results.runs:
        if len(new) != (own := results.planned(run.row, run.column)):
            yield f"'{run.row}' in '{run.column}' has {own} of the {len(new)} new seeds"
