"""Adds the runs of further seeds to a recorded table; the runs of the recorded seeds may be gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from runner.execution.errors import UserError
from runner.execution.override_values import key_of
from runner.files.atomic_files import read_json
from runner.report.budget import budget, planned
from runner.report.page.kept_overrides import besides_scale
from runner.report.recorded.agreement import check_agreement
from runner.report.recorded.extended_results import ExtendedResults
from runner.report.recorded.merged_manifest import SEED
from runner.report.recorded.recorded_results import RecordedResults, recorded_results
from runner.report.recorded.redraw import checked_digests, from_numbers
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape


def extended(shape: TableShape, results: Results, overrides: Sequence[str], folder: Path) -> ExtendedResults:
    """`results` together with those of the recorded table in `folder`.

    Args:
        shape: the table of the experiment, with all that it has today.
        overrides: those of the command, besides the experiment.

    Raises:
        UserError: if there is no such record, it is damaged, or does not keep what this needs; if anything
            but the seeds differs, as far as overrides, budget, rows and columns tell; or if the table needs
            the curves, draws or states of all runs.
    """
    checked_digests(folder)
    manifest = read_json(folder / "manifest.json") or {}
    recorded = recorded_results(Results(()), folder)
    if recorded.said is None or not recorded.seed_values:
        raise UserError(
            f"The record {folder} is of an earlier version, which did not keep all that adding seeds needs: "
            "--record writes it anew where all of its runs are done."
        )
    check_agreement(shape, recorded, str(folder))
    obstacles = (
        *_other_settings(manifest, results, overrides),
        *_other_places(recorded, results),
        *_needs_all_runs(shape, recorded, results),
    )
    for what in obstacles:
        raise UserError(f"The record {folder} cannot be extended: {what}.")
    return ExtendedResults(results.runs, results.random_runs, recorded)


def _other_settings(manifest: Mapping[str, Any], results: Results, overrides: Sequence[str]) -> Iterator[str]:
    """Overrides besides the seeds, and settings of the task, that are not those of the record."""
    then, now = (
        {key_of(line): line for line in lines if key_of(line) != SEED}
        for lines in (manifest["overrides"], besides_scale(overrides))
    )
    for key in dict.fromkeys([*then, *now]):
        if then.get(key) != now.get(key):
            here = f"this table has {now[key]}" if key in now else "this table has not"
            yield f"it has {then[key]}, which {here}" if key in then else f"{here}, which it has not"
    given = budget(results.runs[0].config)
    for key, value in manifest["budget"].items():
        if given.get(key) != value:
            yield f"its task.{key} is {value}, and that of this table {given.get(key)}"


def _other_places(recorded: RecordedResults, results: Results) -> Iterator[str]:
    """Rows and columns that only one of them has, and seeds that both have or that not every row has."""
    then, now = recorded.measured_seeds(), results.measured_seeds()
    every = set[int]().union(*now.values())
    for place in dict.fromkeys([*then, *now]):
        where = f"'{place[0]}' in '{place[1]}'"
        if place not in now:
            yield f"it has {where}, of which no run of this table is done"
        elif place not in then:
            yield f"this table has {where}, which it has not"
        elif both := then[place] & now[place]:
            yield f"it has {_seeds(both)} of {where} already; give the new ones alone"
        elif missing := every - now[place]:
            yield f"{_seeds(missing)} of {where} is not done in this table, but that of other rows is"


def _seeds(seeds: Set[int]) -> str:
    return f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, sorted(seeds)))}"


def _needs_all_runs(shape: TableShape, recorded: RecordedResults, results: Results) -> Iterator[str]:
    """What the table shows and neither its numbers nor what the record keeps of its runs suffice for."""
    unlisted = {column.label for column in shape.columns if not column.table}
    for figure in shape.restricted(results.columns, results.rows).figures:
        if not from_numbers(figure, unlisted):
            yield f"its figure '{figure.name}' shows the curves, draws or states of all runs"
    assert recorded.said is not None
    if recorded.said.growths:
        yield "it says how metrics grow along the runs, for which all of them are needed"
    if recorded.said.budget != planned(results).budget:
        yield "its page says what its runs have taken together, or their budget in other words"
