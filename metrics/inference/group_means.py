"""The mean of several groups, such as image sets, of which each counts the same: interval, test, power.

The groups have means and variances of their own, so that what is tested is the mean of their means. Its
degrees of freedom are those of Welch and Satterthwaite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

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


def group_mean(groups: Sequence[Interval]) -> float:
    """The mean of the means of `groups`, of which there is one at least."""
    return math.fsum(group.mean for group in groups) / len(groups)


def group_interval(groups: Sequence[Interval]) -> Interval | None:
    """The mean of the means of `groups` with its 95 % interval; None where `group_p_value` is None."""
    spread = _spread(groups)
    if spread is None:
        return None
    mean, margin = group_mean(groups), spread[0] * t_quantile(0.5 + LEVEL / 2, spread[1])
    return Interval(mean, None, mean - margin, mean + margin, sum(group.n for group in groups))


def group_p_value(groups: Sequence[Interval]) -> float | None:
    """Two-sided p-value that the means of `groups` have a mean of 0.

    None without groups, for a group of one value, and where no group varies.
    """
    spread = _spread(groups)
    if spread is None:
        return None
    error, degrees = spread
    return float(2 * special.stdtr(degrees, -abs(group_mean(groups)) / error))


def group_detectable(groups: Sequence[Interval], power: float = POWER, tests: int = 1) -> float | None:
    """Smallest true mean of the means that `group_p_value` finds with probability `power`.

    The standard deviations are taken as known. None where `group_p_value` is None.

    Args:
        tests: over how many tests Holm's correction is (`few_seeds.detectable_difference`).
    """
    spread = _spread(groups)
    if spread is None:
        return None
    return spread[0] * standard_errors_found(spread[1], power, tests)


def _spread(groups: Sequence[Interval]) -> tuple[float, float] | None:
    """Standard error of the mean of the means, and its degrees of freedom by Welch and Satterthwaite."""
    deviations = [group.sd for group in groups if group.sd is not None]
    if len(deviations) < len(groups) or not any(deviations):
        return None
    size = power_of_two(np.array(deviations))
    squares = [(sd / size) ** 2 / group.n for sd, group in zip(deviations, groups, strict=True)]
    total = sum(squares)
    parts = (square**2 / (group.n - 1) for square, group in zip(squares, groups, strict=True))
    return size * math.sqrt(total) / len(groups), total**2 / sum(parts)
