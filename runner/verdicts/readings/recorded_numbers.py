"""The numbers of one recorded table, and of two places in tables against each other."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import cast

from metrics.inference.few_seeds import Interval, detectable_difference, interval, paired_p_value
from metrics.inference.welch import welch_detectable, welch_interval, welch_p_value
from runner.execution.errors import UserError, one_sentence
from runner.files.atomic_files import read_json
from runner.files.plain_yaml import plain_yaml
from runner.report.page.table_files import COMPARISONS, GROWTHS
from runner.report.recorded.seed_values import PLACE, SEEDS, read_labelled, read_seed_values
from runner.store.folder_digests import DIGESTS, FILES
from runner.verdicts.cells import CONF

Place = tuple[str, str, str]
"""Row, column and metric."""

MEAN = "mean"
PLAIN = ("sd", "lo", "hi", "n", "p_value")
"""Columns of table.csv."""

BY_SEED = ("lowest seed", "highest seed")
ONE_SEED = re.compile(r"seed (0|[1-9]\d*)")
OF_TWO = ("found", "seeds above")
"""What only a difference has."""

OF_COMPARISON = ("holm_p_value", "detectable")
"""What only a difference has that the table compares: corrected columns of comparisons.csv."""

OF_GROWTH = ("r2_log", "r2_linear", "r2_power")
"""What only a growth has: columns of growths.csv."""

WITHOUT_UNIT = ("n", "p_value", "seeds above", "holm_p_value")


class RecordedNumbers:
    """The numbers of the table in `folder`, in the units that it prints.

    Raises:
        UserError: if the table is not there or has another schema.
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / "table.csv").is_file():
            raise UserError(f"there is no recorded table {folder.name}.")
        name = "table.csv"
        try:
            frame = read_labelled(folder / "table.csv")
            if lacks := [column for column in (*PLACE, MEAN, *PLAIN) if column not in frame.columns]:
                raise ValueError(f"without {', '.join(lacks)}")
            lines = frame.set_index(PLACE).to_dict("index")
            self.seeds = read_seed_values(folder / (name := SEEDS))
            self._compared = _read_comparisons(_recorded(folder, name := COMPARISONS))
            self._growths = _read_growths(_recorded(folder, name := GROWTHS))
        except (ValueError, KeyError, TypeError) as error:
            said = f"{name} of {folder.name} is of another schema ({one_sentence(error)})"
            raise UserError(f"{said}.") from error
        self.lines = cast(dict[Place, dict[str, object]], lines)
        self.published = tuple(name for name in frame.columns if name.startswith("published_"))
        self._units = _units(folder)

    def value(self, place: Place, what: str) -> float | None:
        """What the table has at `place`; None where it has no such number, or an infinite one.

        The place of a growth has its form for a column, ``D^p``, and the exponent for a mean.
        """
        if place not in self.lines:
            found = self._growths.get(place, {}).get(what, math.nan)
            return found if math.isfinite(found) else None
        value: float | None
        if what == "margin":
            value = self._column(place, "hi") - self._column(place, MEAN)
        elif is_of_seed(what):
            value = _picked(self.seeds.get(place, {}), what)
        else:
            value = self._column(place, what)
        return self._in_unit(value, place, what)

    def _column(self, place: Place, name: str) -> float:
        return float(str(self.lines[place].get(name, math.nan)))

    def _in_unit(self, value: float | None, place: Place, what: str) -> float | None:
        if value is None or not math.isfinite(value):
            return None
        return value if what in WITHOUT_UNIT else value / self._units.get(place[2], 1.0)

    def difference(self, one: Place, other: Place, what: str, of_other: RecordedNumbers) -> float | None:
        """`what` of the number at `one` less that of `of_other` at `other`.

        It is paired by seed where both are of this table; without two seeds in common, and of published
        numbers, it is the difference alone. Of two tables the interval and the test are Welch's.
        """
        if one not in self.lines or other not in of_other.lines:
            return None
        if what in OF_COMPARISON:
            pair = (one[0], other[0], *one[1:]) if self is of_other and one[1:] == other[1:] else None
            value = self._compared.get(pair, {}).get(what) if pair is not None else None
        elif what in self.published or self is not of_other or not self._paired(one, other):
            value = self._of_means(one, other, what, of_other)
        else:
            value = self._of_seeds(one, other, what)
        return self._in_unit(value, one, what)

    def _paired(self, one: Place, other: Place) -> bool:
        """Whether both numbers are known by two seeds at least that they share."""
        return len(self.seeds.get(one, {}).keys() & self.seeds.get(other, {}).keys()) > 1

    def _of_seeds(self, one: Place, other: Place, what: str) -> float | None:
        first, second = self.seeds[one], self.seeds[other]
        apart = {seed: first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())}
        if what == "p_value":
            return paired_p_value(first, second)
        if what == "found":
            return detectable_difference(first, second)
        if what == "seeds above":
            return float(sum(value > 0 for value in apart.values()))
        if is_of_seed(what):
            return _picked(apart, what)
        return getattr(interval(list(apart.values())), what, None)

    def _of_means(self, one: Place, other: Place, what: str, of_other: RecordedNumbers) -> float | None:
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
            return welch_detectable(first, second)
        return getattr(welch_interval(first, second), what, None) if what in ("lo", "hi", "margin") else None

    def _interval(self, place: Place) -> Interval | None:
        mean, sd, n = (self._column(place, name) for name in (MEAN, "sd", "n"))
        return Interval(mean, sd, None, None, int(n)) if math.isfinite(mean) and math.isfinite(sd) else None


def is_of_seed(what: str) -> bool:
    """Whether `what` is the value of one seed."""
    return what in BY_SEED or ONE_SEED.fullmatch(what) is not None


def _picked(seeds: Mapping[int, float], what: str) -> float | None:
    """The lowest, the highest or a named one of the values by seed."""
    if named := ONE_SEED.fullmatch(what):
        return seeds.get(int(named[1]))
    return (min if what == BY_SEED[0] else max)(seeds.values(), default=None)


def _recorded(folder: Path, name: str) -> Path | None:
    """A file that not each record has; one that the record's digests do not list is not of it."""
    digests = read_json(folder / DIGESTS)
    listed = digests is None or name in digests[FILES]
    return folder / name if listed and (folder / name).exists() else None


def _read_comparisons(path: Path | None) -> dict[tuple[str, ...], dict[str, float]]:
    """What comparisons.csv has of two rows, in either order, by their column and metric."""
    if path is None:
        return {}
    lines = read_labelled(path, [*PLACE, "against"]).to_dict("records")
    return {
        (*rows, line["cell"], line["metric"]): {what: line[what] for what in OF_COMPARISON}
        for line in lines
        for rows in permutations((line["row"], line["against"]))
    }


def _read_growths(path: Path | None) -> dict[Place, dict[str, float]]:
    """What growths.csv has of each row, form and metric."""
    if path is None:
        return {}
    lines = read_labelled(path, PLACE).set_index(PLACE)[[MEAN, "lo", "hi", "n", *OF_GROWTH]].astype(float)
    return cast(dict[Place, dict[str, float]], lines.to_dict("index"))


def _units(folder: Path) -> dict[str, float]:
    """The unit of each metric that the table shows in another than its own.

    Tables that were recorded before the manifest had them are of experiments in conf/.
    """
    manifest = read_json(folder / "manifest.json") or {}
    if "units" in manifest:
        return {str(metric): float(unit) for metric, unit in manifest["units"].items()}
    path = CONF / "experiment" / f"{folder.name.rpartition('_')[0]}.yaml"
    shape = (plain_yaml(path.read_bytes()) or {}).get("table") or {} if path.is_file() else {}
    return {metric["metric"]: float(metric.get("scale", 1.0)) for metric in shape.get("metrics", [])}
