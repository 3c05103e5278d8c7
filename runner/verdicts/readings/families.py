"""Tests that a reading corrects together, by Holm's method.

    <!-- tests: at equal cost = PT-DMALA - DMALA; PT-DMALA - ACS | MNIST; Omniglot | log_mmd -->

names such a family: each of these differences in each of these columns and metrics. A ``*`` may stand in a
part, lines may break anywhere, and a second comment of the same name adds to the family. ``p_value of at
equal cost`` is then the adjusted p-value of one of its tests, and ``found of at equal cost`` the smallest
true difference that this test finds with 80 % power whatever the others find.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from metrics.inference.few_seeds import holm
from runner.verdicts.readings.recorded_numbers import Place, RecordedNumbers

FORM = "tests: NAME = A - B | column | metric"
COMMENT = re.compile(r"<!--\s*tests\b(.*?)-->", re.DOTALL)
NAMED = re.compile(r": (.+?) = (.+)")
OF_FAMILY = re.compile(r"(p_value|found) of (.+)")

Pair = tuple[tuple[RecordedNumbers, Place], tuple[RecordedNumbers, Place]]
"""Two places in tables, between which a test is."""


def named_tests(text: str) -> Iterator[tuple[str, str]]:
    """The name and the source of each comment in `text` that names tests.

    Raises:
        ValueError: for one of another form.
    """
    for inside in COMMENT.findall(text):
        line = " ".join(inside.split())
        found = NAMED.fullmatch(line if line.startswith(": ") else "")
        if found is None:
            raise ValueError(f"tests must be named as in '{FORM}', 'tests{line}' was given")
        yield found[1], found[2]


class Family:
    """Tests of pairs with their p-values, all corrected together.

    A pair given twice, or in the other order, is one test.
    """

    def __init__(self, tested: Iterable[tuple[Pair, float]]) -> None:
        p_values = {_key(pair): p_value for pair, p_value in tested}
        self._adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))

    def __len__(self) -> int:
        return len(self._adjusted)

    def __contains__(self, pair: Pair) -> bool:
        return _key(pair) in self._adjusted

    def value(self, pair: Pair, what: str) -> float | None:
        """The adjusted ``p_value`` of one of the tests, or what it has ``found`` at the corrected level."""
        return self._adjusted[_key(pair)] if what == "p_value" else difference(pair, what, len(self))


def difference(pair: Pair, what: str, tests: int = 1) -> float | None:
    """`what` of the first place less the second; ``found`` corrected for so many `tests`."""
    (table, one), (of_other, other) = pair
    return table.difference(one, other, what, of_other, tests=tests)


def _key(pair: Pair) -> frozenset[tuple[int, Place]]:
    return frozenset((id(table), place) for table, place in pair)
