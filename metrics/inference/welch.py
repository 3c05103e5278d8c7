"""Welch's test and interval of two means of which only mean, standard deviation and n are known.

A difference of two means is twice the mean of the one and of the other with its sign turned.
"""

from __future__ import annotations

from dataclasses import replace

from metrics.inference.few_seeds import POWER, Interval
from metrics.inference.group_means import group_detectable, group_interval, group_p_value


def welch_p_value(a: Interval, b: Interval) -> float | None:
    """Two-sided p-value that two independent samples with unequal variances have the same mean.

    It takes no account of seeds that the two share, as a paired test would: where these make values alike it
    is too large. None for fewer than two values in either, and where neither varies.
    """
    return group_p_value(_apart(a, b))


def welch_detectable(a: Interval, b: Interval, power: float = POWER, tests: int = 1) -> float | None:
    """Smallest true difference of means that `welch_p_value` finds with probability `power`.

    The standard deviations are taken as known. None where `welch_p_value` is None.

    Args:
        tests: over how many tests Holm's correction is (`few_seeds.detectable_difference`).
    """
    found = group_detectable(_apart(a, b), power, tests)
    return None if found is None else 2 * found


def welch_interval(a: Interval, b: Interval) -> Interval | None:
    """The mean of `a` less that of `b` with its 95 % interval; None where `welch_p_value` is None."""
    half = group_interval(_apart(a, b))
    if half is None or half.lo is None or half.hi is None:
        return None
    return Interval(2 * half.mean, None, 2 * half.lo, 2 * half.hi, half.n)


def _apart(a: Interval, b: Interval) -> list[Interval]:
    return [a, replace(b, mean=-b.mean)]
