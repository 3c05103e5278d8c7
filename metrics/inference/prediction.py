"""Where a further value lies: the prediction interval of Student's t."""

from __future__ import annotations

import math

from metrics.inference.few_seeds import LEVEL, Interval, t_quantile


def prediction_interval(ours: Interval, more: int = 1, level: float = LEVEL) -> tuple[float, float] | None:
    """Where the mean of `more` further values lies with probability `level`; None where `ours` is one value.

    The values are taken as normal: ``mean +- t s sqrt(1 / more + 1 / n)`` with n - 1 degrees of freedom.
    """
    if ours.sd is None:
        return None
    half = t_quantile(0.5 + level / 2, ours.n - 1) * ours.sd * math.sqrt(1 / more + 1 / ours.n)
    return ours.mean - half, ours.mean + half
