"""A number over several columns of a table, each of which counts the same.

The column ``mean over MNIST; KMNIST`` is these two, ``mean over *`` all. A difference is paired by seed in
each column. Its interval and test are of the mean over these columns, not over others that might have been
taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from metrics.inference.few_seeds import Interval
from metrics.inference.group_means import (
    group_detectable,
    group_interval,
    group_mean,
    group_p_value,
)

OVER = "mean over "


def column_over(columns: Iterable[str]) -> str:
    """`columns` as one column."""
    return OVER + "; ".join(dict.fromkeys(columns))


def columns_of(column: str) -> list[str]:
    """The columns that `column` is over; none if it is a single one."""
    return column.removeprefix(OVER).split("; ") if column.startswith(OVER) else []


def over_columns(
    columns: Sequence[str], of_one: Callable[[str], Interval | None], what: str, tests: int = 1
) -> float | None:
    """`what` of the mean over `columns`; None where it is not known of one of them.

    Args:
        of_one: the interval in a column.
        what: ``mean``, ``lo``, ``hi``, ``margin``, ``n``, ``p_value`` or ``found``.
        tests: over how many tests ``found`` is corrected.
    """
    groups = [group for group in map(of_one, columns) if group is not None]
    if len(groups) < len(columns):
        return None
    if what == "mean":
        return group_mean(groups)
    if what == "p_value":
        return group_p_value(groups)
    if what == "found":
        return group_detectable(groups, tests=tests)
    return getattr(group_interval(groups), what, None)
