"""Adds the runs of new seeds to a recorded table; the runs of the recorded seeds may be gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.execution.errors import UserError
from runner.execution.override_values import key_of
from runner.files.atomic_files import read_json
from runner.report.budget import budget
from runner.report.page.kept_overrides import besides_scale, differing
from runner.report.recorded.agreement import check_agreement
from runner.report.recorded.extendable import needs_all_runs
from runner.report.recorded.extended_results import ExtendedResults
from runner.report.recorded.merged_manifest import SEED, TUNINGS
from runner.report.recorded.recorded_results import RecordedResults, recorded_results
from runner.report.recorded.redraw import checked_digests
from runner.report.recorded.said import SAID
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape


def extended(shape: TableShape, results: Results, overrides: Sequence[str], folder: Path) -> ExtendedResults:
    """`results` together with those of the recorded table in `folder`.

    Args:
        shape: the table of the experiment, with all that it has today.
        overrides: those of the command, besides the experiment.

    Raises:
        UserError: if there is no such record, it is damaged, or of a version that kept less; if anything but
            the seeds differs, as far as overrides, budget, rows, columns and metrics tell; if a run is not
            done; or if the table needs the curves, draws or states of all runs.
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
    here = shape.restricted(results.columns, results.rows)
    for obstacles in (
        _other_settings(manifest, results, overrides),
        _other_numbers(here, recorded, results),
        _wrong_seeds(manifest, results),
        needs_all_runs(here, recorded, results),
    ):
        for what in obstacles:
            raise UserError(f"The record {folder} cannot be extended: {what}.")
    return ExtendedResults(results.runs, results.random_runs, recorded, manifest)


def _is_of_an_earlier_version(manifest: Mapping[str, Any]) -> bool:
    """Whether a record lacks something that is put together with what the new runs have."""
    said = manifest.get(SAID, {})
    whole = "overrides" in manifest and {"sources", "evaluations"} <= said.keys()
    return not whole or (TUNINGS not in manifest and manifest["seconds"]["tuning"] > 0)


def _other_settings(manifest: Mapping[str, Any], results: Results, overrides: Sequence[str]) -> Iterator[str]:
    """Overrides besides the seeds, and settings of the task, that are not those of the record."""
    then, now = (
        [line for line in lines if key_of(line) != SEED]
        for lines in (manifest["overrides"], besides_scale(overrides))
    )
    yield from differing(then, now)
    given = budget(results.runs[0].config)
    for key, value in manifest["budget"].items():
        if given.get(key) != value:
            yield f"its task.{key} is {value}, and that of this table {given.get(key)}"


def _other_numbers(shape: TableShape, recorded: RecordedResults, results: Results) -> Iterator[str]:
    """Rows and columns, or metrics, that only one of them has."""
    then = dict.fromkeys((row, column) for row, column, _ in recorded.lines)
    now = dict.fromkeys((run.row, run.column) for run in results.runs if shape.column(run.column).table)
    for row, column in (*then, *now):
        if (row, column) not in now:
            yield f"it has '{row}' in '{column}', which this table lacks"
        elif (row, column) not in then:
            yield f"this table has '{row}' in '{column}', which it lacks"
    metrics = {metric for *_, metric in recorded.lines}
    for metric in shape.metrics:
        if metric.metric not in metrics:
            yield f"this table has the metric {metric.metric}, which it lacks"


def _wrong_seeds(manifest: Mapping[str, Any], results: Results) -> Iterator[str]:
    """Seeds that both have, or that are not done in every row and column."""
    runs, new = manifest["runs"], sorted({run.seed for run in results.runs})
    if both := set(manifest["seeds"]).intersection(new):
        word = "seed" if len(both) == 1 else "seeds"
        yield f"it has {word} {', '.join(map(str, sorted(both)))} already; give the new ones alone"
    if runs["done"] < runs["expected"]:
        yield f"{runs['done']} of its {runs['expected']} runs were done, and all must be"
    if results.done < results.expected:
        yield f"{results.done} of the {results.expected} new runs are done, and all must be"
    for run in results.runs:
        if len(new) != (own := results.planned(run.row, run.column)):
            yield f"'{run.row}' in '{run.column}' has {own} of the {len(new)} new seeds"
