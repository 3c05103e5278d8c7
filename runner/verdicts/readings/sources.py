"""The source that a reading names behind a number: which places of which tables, and what of them.

    row | column | metric | what | which

``what`` is the mean where it is not given, or a column of table.csv such as ``sd``, ``n`` or
``published_EDLP``; ``margin`` is half of the interval, ``seed 3`` the value of that seed in seeds.csv, and
``lowest seed`` and ``highest seed`` are its extremes. ``mean - published_EDLP`` and
``mean / published_EDLP`` are of two at one place.

One part may hold two labels: ``A / B`` is the ratio of their numbers, ``A - B`` the difference, which also
has ``p_value``, ``found`` (the smallest true difference that the test finds with 80 % power, not corrected)
and ``seeds above`` (on how many A is above B); ``holm_p_value`` and ``detectable`` are both corrected, of a
comparison in comparisons.csv. Behind a row `` @ pt_table1_paper`` names another record.

Where the column is the form of a growth in growths.csv, ``D^p`` or ``exp(p D^2)``, the mean is the exponent,
and ``r2_log``, ``r2_linear`` and ``r2_power`` are R² of the logarithm against log D, D and its power.

A part may list labels, ``A; B``, or have a ``*``, alone for all or in a label (``PT-DMALA, K = *``): then
``which`` is ``smallest`` or ``largest``. ``at most`` is the largest, rounded up, and ``at least`` the
smallest, rounded down.

Of a bench the parts are ``measured | value | 1``: a line of bench.csv, its column ``value`` or ``wanted``,
and which of the numbers that stand there. Only another bench can stand behind an at sign then.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from itertools import product
from pathlib import Path

from runner.execution.errors import UserError, not_allowed
from runner.store.folder_digests import DIGESTS, damaged_files
from runner.verdicts.readings.recorded_files import is_bench, read_bench, read_table
from runner.verdicts.readings.recorded_numbers import (
    BY_SEED,
    MEAN,
    OF_COMPARISON,
    OF_GROWTH,
    OF_TWO,
    PLAIN,
    Place,
    RecordedNumbers,
    is_of_seed,
)

HALVES = re.compile(" [/-] ")
BAR = re.compile(r"\\?\|")
MINUS = "\N{MINUS SIGN}"
ROUNDED = {
    "smallest": ROUND_HALF_EVEN,
    "largest": ROUND_HALF_EVEN,
    "at least": ROUND_FLOOR,
    "at most": ROUND_CEILING,
}
"""How each answer to which of several numbers is meant is rounded."""


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

    def written(self, source: str, like: str) -> str:
        """The number that `source` names, with the sign of minus and as many decimals as `like`.

        Raises:
            UserError: if `source` has another form, or names what is not there.
        """
        parts = [part.strip() for part in BAR.split(source)]
        if not 3 <= len(parts) <= 5:
            raise UserError(f"{self.where}: a source must be {self._form}, '{source}' was given.")
        what, which = parts[3] if len(parts) > 3 else MEAN, parts[4] if len(parts) > 4 else None
        self._check(what, which)
        numbers = list(self._numbers(parts[:3], what))
        if not numbers:
            raise UserError(f"{self.where}: the record has no number '{source}'.")
        if which is None and len(numbers) > 1:
            must = "must say in a fifth part which, smallest, largest, at least or at most"
            raise UserError(f"{self.where}: the source '{source}' is of {len(numbers)} numbers and {must}.")
        value = (min if which in ("smallest", "at least") else max)(numbers)
        return written(value, like, ROUNDED[which] if which else ROUND_HALF_EVEN)

    def _check(self, what: str, which: str | None) -> None:
        asked = (MEAN, *PLAIN, "margin", *BY_SEED, *OF_TWO, *OF_COMPARISON, *OF_GROWTH, *self._own.published)
        given_parts = [("fourth", half, asked) for half in HALVES.split(what)]
        if which is not None:
            given_parts.append(("fifth", which, tuple(ROUNDED)))
        for name, given, allowed in given_parts:
            if given not in allowed and not (name == "fourth" and is_of_seed(given)):
                some = ", seed 3" if name == "fourth" else ""
                must = f"{self.where}: the {name} part of a source must be {', '.join(allowed[:-1])}{some}"
                raise not_allowed(f"{must} or {allowed[-1]}", given, allowed)

    def _numbers(self, parts: Sequence[str], what: str) -> Iterator[float]:
        """The numbers at all places that `parts` name; a place that a ``*`` names may have none."""
        named = [list(_listed(part, known)) for part, known in zip(parts, self._labels, strict=True)]
        for place in product(*named):
            value = self._value([label for label, _ in place], what)
            if value is not None:
                yield value
            elif not any(of_all for _, of_all in place):
                asked = " | ".join([*(label for label, _ in place), *([] if what == MEAN else [what])])
                raise UserError(f"{self.where}: the record has no number '{asked}'.")

    def _value(self, place: Sequence[str], what: str) -> float | None:
        """The number at `place`, or the ratio or difference of two if it is of none.

        A label that holds a sign is a label before it is two.
        """
        if found := HALVES.search(what):
            one, other = what[: found.start()], what[found.end() :]
            return _combined(found[0], self._value(place, one), self._value(place, other))
        table, plain = self._table_of(place)
        if (value := table.value(plain, what)) is not None:
            return value
        for at, part in enumerate(place):
            for found in HALVES.finditer(part):
                halves = part[: found.start()].strip(), part[found.end() :].strip()
                (over, first), (under, second) = (
                    self._table_of([*place[:at], half, *place[at + 1 :]]) for half in halves
                )
                if over.value(first, MEAN) is None or under.value(second, MEAN) is None:
                    continue
                if found[0] == " - ":
                    return over.difference(first, second, what, under)
                return _combined(found[0], over.value(first, what), under.value(second, what))
        return None

    def _table_of(self, place: Sequence[str]) -> tuple[RecordedNumbers, Place]:
        """The table that holds `place`, and the place in it."""
        row, column, metric = place
        here, _, name = row.partition(" @ ")
        if row in self._labels[0] or not name or " " in name:
            return self._own, (row, column, metric)
        if HALVES.search(here) and not (self._root / name).is_dir():
            return self._own, (row, column, metric)  # two labels, the second of which has an at sign
        if name not in self._others:
            self._others[name] = self._read(name)
        return self._others[name], (here, column, metric)

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


def _listed(part: str, labels: dict[str, None]) -> Iterator[tuple[str, bool]]:
    """The labels that `part` names, or what it makes of each, and whether a ``*`` named it."""
    for one in [part] if part in labels else part.split("; "):
        if "*" in one and one not in labels:
            halves = HALVES.split(one)
            before, pattern, after = one.partition(next(half for half in halves if "*" in half))
            fitting = list(_fitting(pattern, labels))
            if not fitting:  # behind an at sign stands a record
                pattern, at, record = pattern.partition(" @ ")
                fitting, after = list(_fitting(pattern, labels)), at + record + after
            others = [half.partition(" @ ")[0] for half in halves]
            yield from ((before + label + after, True) for label in fitting if label not in others)
        else:
            yield one.strip(), False


def _fitting(pattern: str, labels: Iterable[str]) -> Iterator[str]:
    """The labels that `pattern` fits, in which a ``*`` stands for any text."""
    fits = re.compile(re.escape(pattern.strip()).replace(r"\*", ".*")).fullmatch
    return (label for label in labels if fits(label))


def written(value: float, like: str, rounding: str) -> str:
    """`value` with as many decimals as `like`, in its notation."""
    digits = len(like.partition("e")[0].partition(".")[2])
    exact = Decimal(f"{value:.12g}") if rounding != ROUND_HALF_EVEN else Decimal(value)
    if "e" in like:
        last = (math.floor(math.log10(abs(value))) if value else 0) - digits
        exact = exact.quantize(Decimal((0, (1,), last)), rounding)
        mantissa, _, exponent = f"{exact:.{digits}e}".partition("e")
        text = f"{mantissa}e{int(exponent)}"
    else:
        exact = exact.quantize(Decimal((0, (1,), -digits)), rounding)
        text = f"{exact:{',' if ',' in like else ''}.{digits}f}"
    return MINUS + text[1:] if like[0] == MINUS and text[0] == "-" else text
