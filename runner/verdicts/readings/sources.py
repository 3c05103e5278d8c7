"""The source that a reading names behind a number: which places of which tables, and what of them.

    row | column | metric | what | which

``what`` is the mean where it is not given, or a column of table.csv such as ``sd``, ``n`` or
``published_EDLP``; ``margin`` is half of the interval, ``prediction_lo`` and ``prediction_hi`` are the ends
of the one for one more run, ``seed 3`` is the value of that seed in seeds.csv, and ``lowest seed`` and
``highest seed`` are its extremes. ``mean - published_EDLP`` and
``mean / published_EDLP`` are of two at one place.

One part may hold two labels: ``A / B`` is the ratio of their numbers, ``A - B`` the difference, which also
has ``p_value``, ``found`` (the smallest true difference that the test finds with 80 % power, not corrected)
and ``seeds above`` (on how many A is above B); ``holm_p_value`` and ``detectable`` are both corrected, of a
comparison in comparisons.csv. `families` says how a reading has its own tests corrected together. Behind a
row `` @ pt_table1_paper`` names another record, with ``by seed`` behind it one whose seeds are paired with
those of the number that it is compared with. `over_columns` says how a number is over several columns.

Where the column is the form of a growth in growths.csv, ``D^p`` or ``exp(p D^2)``, the mean is the exponent,
and ``r2_log``, ``r2_linear`` and ``r2_power`` are R² of the logarithm against log D, D and its power.

A part may list labels, ``A; B``, or have a ``*``, alone for all or in a label (``PT-DMALA, K = *``): then
``which`` is ``smallest`` or ``largest``. ``at most`` is the largest, rounded up, and ``at least`` the
smallest, rounded down. `counts` says how their number is asked for.

Of a bench the parts are ``measured | value | 1``: a line of bench.csv, its column ``value`` or ``wanted``,
and which of the numbers that stand there. Only another bench can stand behind an at sign then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_EVEN
from itertools import product
from pathlib import Path

from runner.execution.errors import UserError, nearest, not_allowed
from runner.store.folder_digests import DIGESTS, damaged_files
from runner.verdicts.readings.counts import COUNTS, asks_prediction, counted, is_count
from runner.verdicts.readings.families import OF_FAMILY, Family, Pair, difference, named_tests
from runner.verdicts.readings.labels import HALVES, listed_labels
from runner.verdicts.readings.recorded_files import is_bench, read_bench, read_table
from runner.verdicts.readings.recorded_numbers import (
    BY_SEED,
    MEAN,
    OF_COMPARISON,
    OF_GROWTH,
    OF_TWO,
    PLAIN,
    PREDICTION,
    Place,
    RecordedNumbers,
    is_of_seed,
)
from runner.verdicts.readings.writing import ROUNDED, written

BAR = re.compile(r"\\?\|")

PAIRED_SUFFIX = " by seed"
"""What stands behind the name of another record whose seeds are paired with those of this one."""


class Sources:
    """The numbers that the reading in `folder` may take.

    Args:
        where: what a message calls the reading.

    Raises:
        UserError: if the record beside the reading cannot be read.
    """

    def __init__(self, folder: Path, where: str) -> None:
        self.where, self._root = where, folder.parent
        of_bench = is_bench(folder)
        self._numbers_in = read_bench if of_bench else read_table
        self._form = "measured | value or wanted | 1, 2, ..." if of_bench else "row | column | metric"
        try:
            self._own = self._numbers_in(folder)
        except UserError as error:
            raise UserError(f"{where} is left as it is: {error}") from error
        self._labels = [dict.fromkeys(names) for names in zip(*self._own.lines, strict=True)]
        self._others: dict[str, RecordedNumbers] = {}
        self._families: dict[str, Family] = {}

    def read_families(self, text: str) -> None:
        """Reads which tests the reading `text` corrects together.

        Raises:
            UserError: for a comment of another form, and where it names what is no test.
        """
        tested: dict[str, list[tuple[Pair, float]]] = {}
        try:
            for name, source in named_tests(text):
                tested.setdefault(name, []).extend(self._tested(name, source))
        except ValueError as error:
            raise UserError(f"{self.where}: {error}.") from error
        self._families = {name: Family(of_name) for name, of_name in tested.items()}

    def _tested(self, name: str, source: str) -> list[tuple[Pair, float]]:
        """The pairs that `source` names for the tests `name`, with their p-values."""
        parts = [part.strip() for part in BAR.split(source)]
        if len(parts) != 3:
            raise UserError(f"{self.where}: the tests '{name}' must be {self._form}, '{source}' was given.")
        tested = []
        for place, of_all in self._places(parts):
            pair = self._pair(place)
            p_value = None if pair is None else difference(pair, "p_value")
            if pair is not None and p_value is not None:
                tested.append((pair, p_value))
            elif not of_all:
                asked = " | ".join(place)
                raise UserError(f"{self.where}: '{asked}' of the tests '{name}' has no p-value.")
        if not tested:
            raise UserError(f"{self.where}: there are no tests '{source}', which '{name}' names.")
        return tested

    def written(self, source: str, like: str) -> str:
        """The number that `source` names, with the sign of minus and as many decimals as `like`.

        Raises:
            UserError: if `source` has another form, or names what is not there.
        """
        parts = [" ".join(part.split()) for part in BAR.split(source)]
        if not 3 <= len(parts) <= 5:
            raise UserError(f"{self.where}: a source must be {self._form}, '{source}' was given.")
        what, which = parts[3] if len(parts) > 3 else MEAN, parts[4] if len(parts) > 4 else None
        self._check(what, which)
        found = list(self._found(parts[:3], what))
        if not found:
            raise UserError(f"{self.where}: the record has no number '{source}'.")
        if which is not None and is_count(which):
            number = counted(found, which, self._value)
            if number is None:
                raise UserError(f"{self.where}: '{source}' is of numbers without a prediction interval.")
            return written(number, like, ROUND_HALF_EVEN)
        if which is None and len(found) > 1:
            must = f"must say which in a fifth part: {', '.join(ROUNDED)} or {COUNTS[0]}"
            raise UserError(f"{self.where}: the source '{source}' is of {len(found)} numbers and {must}.")
        value = (min if which in ("smallest", "at least") else max)(value for _, value in found)
        return written(value, like, ROUNDED[which] if which else ROUND_HALF_EVEN)

    def _check(self, what: str, which: str | None) -> None:
        single = (MEAN, *PLAIN, "margin", *PREDICTION, *BY_SEED)
        asked = (*single, *OF_TWO, *OF_COMPARISON, *OF_GROWTH, *self._own.published)
        if of_family := OF_FAMILY.fullmatch(what):
            if of_family[2] not in self._families:
                hint = nearest(of_family[2], self._families) or "."
                raise UserError(f"{self.where}: no tests are named '{of_family[2]}'{hint}")
            what = of_family[1]
        given_parts = [("fourth", half, asked) for half in HALVES.split(what)]
        if which is not None and is_count(which):
            if asks_prediction(which) and what not in self._own.published:
                some = ", ".join(self._own.published) or "of which the record has none"
                raise UserError(f"{self.where}: '{which}' counts published numbers, {some}, not '{what}'.")
        elif which is not None:
            given_parts.append(("fifth", which, (*ROUNDED, *COUNTS)))
        for name, given, allowed in given_parts:
            if given not in allowed and not (name == "fourth" and is_of_seed(given)):
                some = ", seed 3" if name == "fourth" else ""
                must = f"{self.where}: the {name} part of a source must be {', '.join(allowed[:-1])}{some}"
                raise not_allowed(f"{must} or {allowed[-1]}", given, allowed)

    def _found(self, parts: Sequence[str], what: str) -> Iterator[tuple[list[str], float]]:
        """The places that `parts` name with their numbers; one that a ``*`` names may have none."""
        for place, of_all in self._places(parts):
            value = self._value(place, what)
            if value is not None:
                yield place, value
            elif not of_all:
                asked, of_family = " | ".join(place), OF_FAMILY.fullmatch(what)
                if of_family is not None:
                    raise UserError(f"{self.where}: '{asked}' is not among the tests '{of_family[2]}'.")
                asked += "" if what == MEAN else f" | {what}"
                raise UserError(f"{self.where}: the record has no number '{asked}'.")

    def _places(self, parts: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
        """The places that `parts` name, and whether a ``*`` is among their names."""
        named = [list(listed_labels(part, known)) for part, known in zip(parts, self._labels, strict=True)]
        for place in product(*named):
            yield [label for label, _ in place], any(of_all for _, of_all in place)

    def _value(self, place: Sequence[str], what: str) -> float | None:
        """The number at `place`, or the ratio or difference of two if it is of none.

        A label that holds a sign is a label before it is two.
        """
        if of_family := OF_FAMILY.fullmatch(what):
            pair, family = self._pair(place), self._families[of_family[2]]
            return family.value(pair, of_family[1]) if pair is not None and pair in family else None
        if found := HALVES.search(what):
            one, other = what[: found.start()], what[found.end() :]
            return _combined(found[0], self._value(place, one), self._value(place, other))
        table, plain = self._table_of(place)
        if (value := table.value(plain, what)) is not None:
            self._check_paired(place, table)
            return value
        if (two := self._two(place)) is None:
            return None
        if what in PREDICTION:
            return None
        operator, ((over, first), (under, second)) = two
        if operator == " - ":
            return over.difference(first, second, what, under)
        self._check_paired(place, over, under)
        return _combined(operator, over.value(first, what), under.value(second, what))

    def _check_paired(self, place: Sequence[str], *tables: RecordedNumbers) -> None:
        """Refuses ``by seed`` where nothing is subtracted."""
        if any(table.paired for table in tables):
            asked = " | ".join(place)
            raise UserError(f"{self.where}: only a difference is{PAIRED_SUFFIX}, '{asked}' was given.")

    def _pair(self, place: Sequence[str]) -> Pair | None:
        """The two places whose difference `place` is, if it is one."""
        two = self._two(place)
        return two[1] if two is not None and two[0] == " - " else None

    def _two(self, place: Sequence[str]) -> tuple[str, Pair] | None:
        """The sign and the two places of a `place` with two labels in a part, both of which have a number."""
        for at, part in enumerate(place):
            for found in HALVES.finditer(part):
                one, other = (
                    self._table_of([*place[:at], half.strip(), *place[at + 1 :]])
                    for half in (part[: found.start()], part[found.end() :])
                )
                if one[0].value(one[1], MEAN) is not None and other[0].value(other[1], MEAN) is not None:
                    return found[0], (one, other)
        return None

    def _table_of(self, place: Sequence[str]) -> tuple[RecordedNumbers, Place]:
        """The table that holds `place`, and the place in it."""
        row, column, metric = place
        here, _, written_name = row.partition(" @ ")
        name = written_name.removesuffix(PAIRED_SUFFIX)
        if row in self._labels[0] or not name or " " in name:
            return self._own, (row, column, metric)
        if HALVES.search(here) and not (self._root / name).is_dir():
            return self._own, (row, column, metric)  # two labels, the second of which has an at sign
        if written_name not in self._others:
            self._others[written_name] = replace(self._read(name), paired=name != written_name)
        return self._others[written_name], (here, column, metric)

    def _read(self, name: str) -> RecordedNumbers:
        """The table of another record."""
        try:
            if changed := damaged_files(self._root / name):
                raise UserError(f"{', '.join(changed)} of {name} is not as it was recorded ({DIGESTS}).")
            return self._numbers_in(self._root / name)
        except UserError as error:
            raise UserError(f"{self.where} is left as it is: {error}") from error


def _combined(operator: str, one: float | None, other: float | None) -> float | None:
    """The ratio or the difference of two numbers."""
    if one is None or other is None or (operator == " / " and not other):
        return None
    return one / other if operator == " / " else one - other
