"""Whether the numbers by seed of a record suffice for its table when seeds are added to it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from runner.report.budget import planned
from runner.report.recorded.extended_results import ExtendedResults
from runner.report.recorded.recorded_results import RecordedResults
from runner.report.recorded.redraw import from_numbers
from runner.report.recorded.said import place_of
from runner.report.recorded.seed_values import SEEDS
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape


def needs_all_runs(shape: TableShape, results: ExtendedResults) -> Iterator[str]:
    """What the table shows and the record's numbers do not suffice for, in words.

    Args:
        shape: the table with the rows and columns alone that the record has.
        results: the record and the runs of the new seeds.
    """
    recorded = results.recorded
    assert recorded.said is not None
    for column in shape.columns:
        if not column.table:
            yield f"its column '{column.label}' is used and not shown"
    for row in shape.rows:
        if row.exact:
            yield f"its row '{row.row}' has exact values of other rows' runs"
    for figure in shape.figures:
        if not from_numbers(figure, set()):
            yield f"its figure '{figure.name}' shows the curves, draws or states of all runs"
    if recorded.said.growths or any(growth.along for growth in shape.growths):
        yield "it says how metrics grow along the runs, for which all of them are needed"
    budget = planned(results).budget
    if not recorded.said.budget.startswith(budget):
        yield f"it says '{recorded.said.budget}', and this table '{budget}'"
    elif recorded.said.budget != budget:
        yield "it says what all of its runs have taken together"
    yield from _numbers_without_seeds(recorded, results.added)


def _numbers_without_seeds(recorded: RecordedResults, added: Results) -> Iterator[str]:
    """Means that are not of the values by seed that the record keeps, or expectations that a seed changes."""
    assert recorded.said is not None
    for place, line in recorded.lines.items():
        row, column, metric = place
        where, new = f"{metric} of '{row}' in '{column}'", [*added.known(*place).values()]
        closed = place_of(*place) in recorded.said.closed_form
        if added.at(row, column) and closed is not bool(new):
            yield f"{where} is in closed form {'there' if closed else 'here'} alone"
        elif closed and (_varies(line["sd"]) or len(set(new)) > 1):
            yield f"{where} is in closed form and differs by seed"
        elif not closed and not math.isnan(line["mean"]) and len(recorded.values(*place)) != line["n"]:
            yield f"{SEEDS} lacks values of {where}"


def _varies(sd: object) -> bool:
    return isinstance(sd, float) and not math.isnan(sd) and sd != 0.0
