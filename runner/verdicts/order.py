"""Whether a published order of rows holds among ours, pair by pair.

A record keeps mean, standard deviation and number of seeds but no value of a seed, so that no paired test
can be made from it: Welch's test it is, Holm-corrected over the pairs of a column. Rows that share seeds, and
with them models, are alike, which this test does not use: it finds less than a paired one would.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

from metrics.statistics.inference import ALPHA, Interval, holm
from metrics.statistics.welch import welch_detectable, welch_p_value


class Outcome(Enum):
    """What our numbers say of the published order of two rows, or of a whole column."""

    holds = "holds"
    reversed = "reversed"
    cannot_be_told = "cannot be told"
    not_rankable = "not rankable"
    tied = "tied as published"
    not_measured = "not measured"


@dataclass(frozen=True)
class Pair:
    """Two rows of a column, the one with the smaller published number first.

    Attributes:
        published: difference of the published numbers, second less first.
        ours: difference of ours; None where one was not measured.
        p_value: of Welch's test, Holm-adjusted; None where there is no test.
        detectable: smallest true difference that the test, by itself, finds at 80 % power.
    """

    rows: tuple[str, str]
    published: float
    ours: float | None
    p_value: float | None
    detectable: float | None
    outcome: Outcome


def compare(
    published: Mapping[str, float],
    ours: Mapping[str, Interval],
    floor: str | None = None,
    at_floor: Sequence[str] = (),
) -> list[Pair]:
    """Every pair of rows of a column.

    Args:
        published: the published means, by row.
        ours: our means, of the rows that were measured.
        floor: why the column's floor is invalid, if it is.
        at_floor: rows that lie at the floor in both; two of them cannot be ranked.
    """
    rows = sorted(published, key=lambda row: published[row])
    pairs = list(combinations(rows, 2))
    measured = [pair for pair in pairs if set(pair) <= ours.keys()]
    adjusted = holm([welch_p_value(ours[one], ours[other]) for one, other in measured])
    p_values = dict(zip(measured, adjusted, strict=True))
    made = []
    for one, other in pairs:
        difference = ours[other].mean - ours[one].mean if (one, other) in p_values else None
        p_value, apart = p_values.get((one, other)), published[other] - published[one]
        if difference is None:
            outcome = Outcome.not_measured
        elif apart == 0.0:
            outcome = Outcome.tied
        elif floor is not None or {one, other} <= set(at_floor):
            outcome = Outcome.not_rankable
        elif p_value is None or p_value >= ALPHA:
            outcome = Outcome.cannot_be_told
        else:
            outcome = Outcome.holds if difference > 0 else Outcome.reversed
        found = welch_detectable(ours[one], ours[other]) if outcome is Outcome.cannot_be_told else None
        made.append(Pair((one, other), apart, difference, p_value, found, outcome))
    return made


def of_column(pairs: Sequence[Pair]) -> Outcome:
    """The order of a whole column: it holds if all its pairs do, and is reversed if one is.

    Where all pairs are not rankable, or not measured, so is the column; else it cannot be told.
    """
    counts = Counter(pair.outcome for pair in pairs if pair.outcome is not Outcome.tied)
    if counts[Outcome.reversed]:
        return Outcome.reversed
    if not counts:
        return Outcome.tied
    return next(iter(counts)) if len(counts) == 1 else Outcome.cannot_be_told
