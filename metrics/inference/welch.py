"""Welch's test and interval of two means of which only mean, standard deviation and n are known."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from metrics.inference.few_seeds import (
    LEVEL,
    POWER,
    Interval,
    power_of_two,
    standard_errors_found,
    t_quantile,
)


def welch_p_value(a: Interval, b: Interval) -> float | None:
    """Two-sided p-value that two independent samples with unequal variances have the same mean.

    It takes no account of seeds that the two share, as a paired test would: where these make values alike it
    is too large. None for fewer than two values in either, and where neither varies.
    """
    spread = _spread(a, b)
    if spread is None:
        return None
    error, degrees = spread
    return float(2 * special.stdtr(degrees, -abs(a.mean - b.mean) / error))


def welch_detectable(a: Interval, b: Interval, power: float = POWER, tests: int = 1) -> float | None:
    """Smallest true difference of means that `welch_p_value` finds with probability `power`.

    The standard deviations are taken as known. None where `welch_p_value` is None.

    Args:
        tests: over how many tests Holm's correction is (`few_seeds.detectable_difference`).
    """
    spread = _spread(a, b)
    return None if spread is None else spread[0] * standard_errors_found(spread[1], power, tests)


def welch_interval(a: Interval, b: Interval) -> Interval | None:
    """The mean of `a` less that of `b` with its 95 % interval; None where `welch_p_value` is None."""
    spread = _spread(a, b)
    if spread is None:
        return None
    mean, margin = a.mean - b.mean, spread[0] * t_quantile(0.5 + LEVEL / 2, spread[1])
    return Interval(mean, None, mean - margin, mean + margin, a.n + b.n)


def _spread(a: Interval, b: Interval) -> tuple[float, float] | None:
    """Standard error of the difference, and its degrees of freedom by Welch and Satterthwaite."""
    if a.sd is None or b.sd is None or a.sd == b.sd == 0.0:
        return None
    size = power_of_two(np.array([a.sd, b.sd]))
    first, second = (a.sd / size) ** 2 / a.n, (b.sd / size) ** 2 / b.n
    degrees = (first + second) ** 2 / (first**2 / (a.n - 1) + second**2 / (b.n - 1))
    return size * math.sqrt(first + second), degrees
