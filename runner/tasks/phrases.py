"""Words that several tasks use when a table says what their runs are given."""

from __future__ import annotations

from collections.abc import Iterable


def span(values: Iterable[int]) -> str:
    """The one value, or the smallest and the largest: ``100`` or ``100 to 2,000``."""
    distinct = sorted(set(values))
    if len(distinct) == 1:
        return f"{distinct[0]:,}"
    return f"{distinct[0]:,} to {distinct[-1]:,}"


def alternatives(values: Iterable[object]) -> str:
    """Distinct values in alphabetical order: ``one_mode or random``."""
    return " or ".join(sorted({str(value) for value in values}))
