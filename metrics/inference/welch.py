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
    spread = spread_of_sum(a, b)
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
    spread = spread_of_sum(a, b)
    return None if spread is None else spread[0] * standard_errors_found(spread[1], power, tests)


def welch_interval(a: Interval, b: Interval) -> Interval | None:
    """The mean of `a` less that of `b` with its 95 % interval; None where `welch_p_value` is None."""
    spread = spread_of_sum(a, b)
    if spread is None:
        return None
    mean, margin = a.mean - b.mean, spread[0] * t_quantile(0.5 + LEVEL / 2, spread[1])
    return Interval(mean, None, mean - margin, mean + margin, a.n + b.n)


def spread_of_sum(*parts: Interval) -> tuple[float, float] | None:
    """Standard error of the sum of independent means, and its degrees of freedom by Welch and Satterthwaite.

    Of a difference it is the same. None for a part of one value, and where no part varies.
    """
    deviations = [part.sd for part in parts if part.sd is not None]
    if len(deviations) < len(parts) or not any(deviations):
        return None
    size = power_of_two(np.array(deviations))
    squares = [(sd / size) ** 2 / part.n for sd, part in zip(deviations, parts, strict=True)]
    total = sum(squares)
    degrees = total**2 / sum(square**2 / (part.n - 1) for square, part in zip(squares, parts, strict=True))
    return size * math.sqrt(total), degrees
