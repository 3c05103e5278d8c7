"""The numbers of one record, and of two places in records against each other."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from metrics.inference.few_seeds import (
    Interval,
    detectable_difference,
    paired_interval,
    paired_p_value,
)
from metrics.inference.prediction import prediction_interval
from metrics.inference.welch import welch_detectable, welch_interval, welch_p_value
from runner.verdicts.readings.over_columns import columns_of, over_columns

Place = tuple[str, str, str]
"""Row, column and metric."""

MEAN = "mean"
PLAIN = ("sd", "lo", "hi", "n", "p_value")
"""Columns of table.csv."""

BY_SEED = ("lowest seed", "highest seed")
ONE_SEED = re.compile(r"seed (0|[1-9]\d*)")
PREDICTION = ("prediction_lo", "prediction_hi")
"""Ends of the 95 % prediction interval for one more run; only a single number has it."""

OF_TWO = ("found", "seeds above")
"""What only a difference has."""

OF_COMPARISON = ("holm_p_value", "detectable")
"""What only a difference has that the table compares: corrected columns of comparisons.csv."""

OF_GROWTH = ("r2_log", "r2_linear", "r2_power")
"""What only a growth has: columns of growths.csv."""

WITHOUT_UNIT = ("n", "p_value", "seeds above", "holm_p_value")


@dataclass(frozen=True)
class RecordedNumbers:
    """The numbers of a record, in the units that it prints; `recorded_files` reads them.

    Attributes:
        lines: by row, column and metric, the columns of table.csv; of a bench the number alone, as the mean.
        seeds: by the same, the value of each seed.
        compared: by two rows, column and metric, corrected columns of comparisons.csv.
        growths: by row, form and metric, the columns of growths.csv.
        published: columns of table.csv that hold published numbers.
        units: of the metrics that the table shows in another unit than their own.
        paired: whether differences from another record are paired by seed, as those of one record are.
    """

    lines: Mapping[Place, Mapping[str, object]]
    seeds: Mapping[Place, Mapping[int, float]] = field(default_factory=dict)
    compared: Mapping[tuple[str, ...], Mapping[str, float]] = field(default_factory=dict)
    growths: Mapping[Place, Mapping[str, float]] = field(default_factory=dict)
    published: tuple[str, ...] = ()
    units: Mapping[str, float] = field(default_factory=dict)
    paired: bool = False

    def value(self, place: Place, what: str) -> float | None:
        """What the table has at `place`; None where it has no such number, or an infinite one.

        The place of a growth has its form for a column, ``D^p``, and the exponent for a mean.
        """
        if place not in self.lines and (columns := columns_of(place[1])):
            row, _, metric = place
            found = over_columns(columns, lambda column: self._interval((row, column, metric)), what)
            return self._in_unit(found, place, what)
        if place not in self.lines:
            of_growth = self.growths.get(place, {}).get(what, math.nan)
            return of_growth if math.isfinite(of_growth) else None
        value: float | None
        if what == "margin":
            value = self._column(place, "hi") - self._column(place, MEAN)
        elif is_of_seed(what):
            value = _picked(self.seeds.get(place, {}), what)
        elif what in PREDICTION:
            ours = self._interval(place)
            ends = None if ours is None else prediction_interval(ours)
            value = None if ends is None else ends[PREDICTION.index(what)]
        else:
            value = self._column(place, what)
        return self._in_unit(value, place, what)

    def _column(self, place: Place, name: str) -> float:
        return float(str(self.lines[place].get(name, math.nan)))

    def _in_unit(self, value: float | None, place: Place, what: str) -> float | None:
        if value is None or not math.isfinite(value):
            return None
        return value if what in WITHOUT_UNIT else value / self.units.get(place[2], 1.0)

    def difference(
        self, one: Place, other: Place, what: str, of_other: RecordedNumbers, *, tests: int = 1
    ) -> float | None:
        """`what` of the number at `one` less that of `of_other` at `other`.

        Of published numbers it is the difference alone. Else it is paired by the seeds that both have: in one
        table, and between two of which one is `paired`. With fewer than two such seeds it is the difference
        alone in one table, and None between two. Between two others the interval and the test are Welch's.
        ``found`` is corrected for so many `tests`.
        """
        paired = self is of_other or self.paired or of_other.paired
        if one not in self.lines and (columns := columns_of(one[1])):
            if one[1] != other[1] or not paired:
                return None
            value = self._over_columns(columns, (one[0], other[0]), one[2], what, of_other, tests)
            return self._in_unit(value, one, what)
        if one not in self.lines or other not in of_other.lines:
            return None
        if what in OF_COMPARISON:
            pair = (one[0], other[0], *one[1:]) if self is of_other and one[1:] == other[1:] else None
            value = self.compared.get(pair, {}).get(what) if pair is not None else None
        elif what in self.published:
            value = self._of_means(one, other, what, of_other, tests)
        elif paired and self._shares_seeds(one, other, of_other):
            value = self._of_seeds(one, other, what, of_other, tests)
        else:
            alone = paired and self is not of_other
            value = None if alone else self._of_means(one, other, what, of_other, tests)
        return self._in_unit(value, one, what)

    def _over_columns(
        self,
        columns: list[str],
        rows: tuple[str, str],
        metric: str,
        what: str,
        of_other: RecordedNumbers,
        tests: int,
    ) -> float | None:
        """`what` of the mean over `columns` of one row less the other, paired by seed in each column."""

        def apart(column: str) -> tuple[Mapping[int, float], Mapping[int, float]]:
            one, other = ((row, column, metric) for row in rows)
            return self.seeds.get(one, {}), of_other.seeds.get(other, {})

        if what == "seeds above":
            shared = [(first, second, first.keys() & second.keys()) for first, second in map(apart, columns)]
            if not all(seeds for _, _, seeds in shared):
                return None
            return float(sum(one[seed] > other[seed] for one, other, seeds in shared for seed in seeds))
        return over_columns(columns, lambda column: paired_interval(*apart(column)), what, tests)

    def _shares_seeds(self, one: Place, other: Place, of_other: RecordedNumbers) -> bool:
        """Whether both numbers are known by two seeds at least that they share."""
        return len(self.seeds.get(one, {}).keys() & of_other.seeds.get(other, {}).keys()) > 1

    def _of_seeds(
        self, one: Place, other: Place, what: str, of_other: RecordedNumbers, tests: int
    ) -> float | None:
        first, second = self.seeds[one], of_other.seeds[other]
        apart = {seed: first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())}
        if what == "p_value":
            return paired_p_value(first, second)
        if what == "found":
            return detectable_difference(first, second, tests=tests)
        if what == "seeds above":
            return float(sum(value > 0 for value in apart.values()))
        if is_of_seed(what):
            return _picked(apart, what)
        return getattr(paired_interval(first, second), what, None)

    def _of_means(
        self, one: Place, other: Place, what: str, of_other: RecordedNumbers, tests: int
    ) -> float | None:
        if what in (MEAN, *self.published):
            return self._column(one, what) - of_other._column(other, what)
        if self is of_other:
            return None
        first, second = self._interval(one), of_other._interval(other)
        if first is None or second is None:
            return None
        if what == "p_value":
            return welch_p_value(first, second)
        if what == "found":
            return welch_detectable(first, second, tests=tests)
        return getattr(welch_interval(first, second), what, None) if what in ("lo", "hi", "margin") else None

    def _interval(self, place: Place) -> Interval | None:
        if place not in self.lines:
            return None
        mean, sd, n = (self._column(place, name) for name in (MEAN, "sd", "n"))
        if not math.isfinite(mean) or not math.isfinite(n):
            return None
        return Interval(mean, sd if math.isfinite(sd) else None, None, None, int(n))


def is_of_seed(what: str) -> bool:
    """Whether `what` is the value of one seed."""
    return what in BY_SEED or ONE_SEED.fullmatch(what) is not None


def _picked(seeds: Mapping[int, float], what: str) -> float | None:
    """The lowest, the highest or a named one of the values by seed."""
    if named := ONE_SEED.fullmatch(what):
        return seeds.get(int(named[1]))
    return (min if what == BY_SEED[0] else max)(seeds.values(), default=None)
