"""Whether a published order of rows holds among ours, pair by pair.

Two rows of one folder that keeps the values of at least two common seeds are compared by a paired t-test,
others, of which mean, standard deviation and number of seeds are known, by Welch's test; both Holm-corrected
over the pairs of a column that have a test. Rows that share seeds share models too, so that Welch's test
finds less than a paired one. Parts recorded beside a table may be of another machine and need not share its
random numbers. Where the common seeds order two rows one way and the means of all their seeds the other, it
cannot be told. A row some of whose runs have no value is compared with nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

from metrics.inference.few_seeds import ALPHA, detectable_difference, holm, paired_p_value
from metrics.inference.welch import welch_detectable, welch_p_value
from runner.verdicts.records import Measured


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
        ours: difference of ours; None where one was not measured, or has no run with a value.
        test: ``paired`` or ``Welch``; empty where there is no difference of ours.
        p_value: Holm-adjusted; None where there is no test.
        detectable: smallest true difference that the test, with its correction, finds at 80 % power.
        source: name of the record that both numbers are of.
        folders: of that record, those that the two numbers lie in: one, or two where one is in a part.
    """

    rows: tuple[str, str]
    published: float
    ours: float | None
    test: str
    p_value: float | None
    detectable: float | None
    outcome: Outcome
    source: str = ""
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class Beside:
    """What a record has beside a published column.

    Attributes:
        ours: our numbers, of the rows that were measured.
        floor: why the column's floor is invalid, if it is.
        at_floor: rows that lie at the floor in both; two of them cannot be ranked.
        source: the record's name.
    """

    ours: Mapping[str, Measured]
    floor: str | None = None
    at_floor: Sequence[str] = ()
    source: str = ""


def compare(published: Mapping[str, float], beside: Sequence[Beside]) -> list[Pair]:
    """Every pair of rows of a column, each by the first record that has both.

    Args:
        published: the published means, by row.
    """
    rows = sorted(published, key=lambda row: published[row])
    pairs = list(combinations(rows, 2))
    records = [next((one for one in beside if set(pair) <= one.ours.keys()), None) for pair in pairs]
    tests = [
        None if record is None else _Test(record.ours[one], record.ours[other])
        for record, (one, other) in zip(records, pairs, strict=True)
    ]
    p_values = [None if test.lost else test.p_value for test in tests if test is not None]
    adjusted, number = iter(holm(p_values)), sum(p_value is not None for p_value in p_values)
    made = []
    for (one, other), record, test in zip(pairs, records, tests, strict=True):
        apart = published[other] - published[one]
        if record is None or test is None:
            made.append(Pair((one, other), apart, None, "", None, None, Outcome.not_measured))
            continue
        p_value = next(adjusted)
        if apart == 0.0:
            outcome = Outcome.tied
        elif record.floor is not None or {one, other} <= set(record.at_floor):
            outcome = Outcome.not_rankable
        elif p_value is None or p_value >= ALPHA or test.contradicted:
            outcome = Outcome.cannot_be_told
        else:
            outcome = Outcome.holds if (test.difference or 0.0) > 0 else Outcome.reversed
        told = outcome is not Outcome.cannot_be_told or test.lost
        found = None if told else test.detectable(number)
        told_by = record.source, test.folders
        made.append(Pair((one, other), apart, test.difference, test.name, p_value, found, outcome, *told_by))
    return made


class _Test:
    """The test of two numbers, `other` less `one`: paired by seed where one folder keeps both."""

    def __init__(self, one: Measured, other: Measured) -> None:
        self.difference: float | None
        self.folders = tuple(dict.fromkeys((one.folder, other.folder)))
        paired = len(self.folders) == 1 and len(one.seeds.keys() & other.seeds.keys()) > 1
        self.name = "paired" if paired else "Welch"
        self.lost = one.lost + other.lost
        if paired:
            shared = sorted(one.seeds.keys() & other.seeds.keys())
            self.difference = sum(other.seeds[seed] - one.seeds[seed] for seed in shared) / len(shared)
            self.p_value = paired_p_value(one.seeds, other.seeds)
        elif one.interval is None or other.interval is None:
            self.name, self.difference, self.p_value = "", None, None
        else:
            self.difference = other.interval.mean - one.interval.mean
            self.p_value = welch_p_value(one.interval, other.interval)
        self._pair = one, other

    @property
    def contradicted(self) -> bool:
        """Whether the means of all seeds lie the other way round than those of the common seeds."""
        one, other = self._pair
        if self.difference is None or one.interval is None or other.interval is None:
            return False
        return self.difference * (other.interval.mean - one.interval.mean) < 0

    def detectable(self, tests: int) -> float | None:
        """Smallest true difference that it finds at 80 % power as one of so many `tests`."""
        one, other = self._pair
        if self.name == "paired":
            return detectable_difference(one.seeds, other.seeds, tests=tests)
        if one.interval is None or other.interval is None:
            return None
        return welch_detectable(one.interval, other.interval, tests=tests)


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
