"""Whether a record can be rendered anew: its files say the same, and the experiment still has its table."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from metrics.inference.few_seeds import Interval, interval
from runner.execution.errors import UserError, listed
from runner.report.recorded.recorded_results import RecordedResults
from runner.report.recorded.seed_values import SEEDS, tested
from runner.report.table_shape import TableShape

ROUNDED = 1e-8
"""Of the largest value of a number's seeds: records of earlier versions have nine digits of each."""


def check_agreement(shape: TableShape, recorded: RecordedResults, name: str) -> None:
    """Refuses a record that its experiment no longer describes, or whose seeds are not those of its table.

    Args:
        shape: the table of the experiment, with all that it has today.
        name: what the record is called in the sentence.

    Raises:
        UserError: naming the first such thing.
    """
    for what in (*_gone(shape, recorded), *_contradictions(shape, recorded)):
        raise UserError(f"The record {name} is left as it is: {what}.")


def _gone(shape: TableShape, recorded: RecordedResults) -> Iterator[str]:
    """What the recorded table has and the table of the experiment has no longer."""
    named: tuple[tuple[str, str, Collection[str]], ...] = (
        ("row", "row", [row.row for row in shape.rows]),
        ("column", "cell", [column.label for column in shape.columns if column.table]),
        ("metric", "metric", [metric.metric for metric in shape.metrics]),
    )
    for what, column, held in named:
        for label in dict.fromkeys(recorded.frame[column]):
            if label not in held:
                yield f"it has the {what} '{label}', and the experiment has only {listed(held)}"


def _contradictions(shape: TableShape, recorded: RecordedResults) -> Iterator[str]:
    """Numbers of the table that are not of the values by seed that are kept, or have none and need them."""
    needed = tested(shape)
    for place in recorded.lines:
        values, span = recorded.values(*place), recorded.interval(*place)
        if recorded.known(*place):
            continue
        of_seeds = interval(list(values.values()))
        where = f"{place[2]} of {place[0]} in {place[1]}"
        if of_seeds is None:
            if span is not None and place[2] in needed:
                yield f"{SEEDS} has no values of {where}, whose mean in table.csv is {span.mean:g}"
        elif span is None:
            yield f"{SEEDS} has {of_seeds.n} values of {where}, which has no mean in table.csv"
        elif not _same(span, of_seeds, max(map(abs, values.values()))):
            yield f"{where} is {_written(span)} in table.csv and {_written(of_seeds)} by {SEEDS}"


def _written(span: Interval) -> str:
    """Mean, margin and number of seeds, in as many digits as seeds are compared by."""
    margin = "" if span.margin is None else f" ± {span.margin:.7g}"
    return f"{span.mean:.9g}{margin} (n = {span.n})"


def _same(one: Interval, other: Interval, size: float) -> bool:
    """Whether two intervals differ by the rounding of values of this size alone."""
    spans = [(span.mean, span.sd or 0.0, span.margin or 0.0) for span in (one, other)]
    pairs = zip(*spans, strict=True)
    return one.n == other.n and all(math.isclose(a, b, abs_tol=ROUNDED * size) for a, b in pairs)
