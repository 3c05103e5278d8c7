"""The labels that a part of a source names: one, several with semicolons, or all that fit a ``*``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from runner.verdicts.readings.over_columns import OVER, column_over

HALVES = re.compile(" [/-] ")
"""What stands between the two labels of a ratio or a difference."""


def listed_labels(part: str, labels: dict[str, None]) -> Iterator[tuple[str, bool]]:
    """The labels that `part` names, or what it makes of each, and whether a ``*`` named it.

    Behind ``mean over`` they are one.
    """
    if part.startswith(OVER) and part not in labels:
        named = [label for label, _ in listed_labels(part.removeprefix(OVER), labels)]
        unknown = [label for label in named if label not in labels]
        # In the table's order, so that the same columns are the same place.
        yield column_over([*(label for label in labels if label in named), *unknown]), False
        return
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
