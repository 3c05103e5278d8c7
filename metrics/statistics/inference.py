"""What a table says about a handful of seeds: mean, 95 % interval, and paired tests with Holm's correction.

Where the data allow no statement (one seed, no variance) there is none: None, never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.95
ALPHA = 0.05


@dataclass(frozen=True)
class Interval:
    """Mean of `n` values with its standard deviation and its Student-t interval.

    Attributes:
        mean: arithmetic mean.
        sd: standard deviation with n - 1 in the denominator; None for one value.
        lo: lower end of the interval; None for one value or where all values are equal.
        hi: upper end, likewise.
        n: number of values.
    """

    mean: float
    sd: float | None
    lo: float | None
    hi: float | None
    n: int

    @property
    def margin(self) -> float | None:
        """Half the width of the interval."""
        return None if self.hi is None else self.hi - self.mean


def _spread(values: np.ndarray) -> float:
    """Standard deviation (n - 1), exactly 0 where values differ by rounding alone."""
    rounding = 8 * np.finfo(np.float64).eps * float(np.abs(values).max())
    return 0.0 if float(np.ptp(values)) <= rounding else float(values.std(ddof=1))


def interval(values: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Mean and Student-t interval of independent values; None where there are no values.

    Raises:
        ValueError: if a value is not finite.
    """
    data = np.asarray(values, dtype=np.float64)
    if data.size == 0:
        return None
    if not np.isfinite(data).all():
        raise ValueError(f"values must be finite, {data[~np.isfinite(data)][0]} was given")
    mean = float(data.mean())
    if data.size == 1:
        return Interval(mean, None, None, None, 1)
    sd = _spread(data)
    if sd == 0.0:
        return Interval(mean, 0.0, None, None, data.size)
    margin = float(stats.t.ppf(0.5 + level / 2, data.size - 1)) * sd / math.sqrt(data.size)
    return Interval(mean, sd, mean - margin, mean + margin, data.size)


def paired_p_value(a: Mapping[int, float], b: Mapping[int, float]) -> float | None:
    """Two-sided p-value of the paired t-test over the seeds that `a` and `b` share.

    None for fewer than two shared seeds and where the differences do not vary.
    """
    seeds = sorted(a.keys() & b.keys())
    if len(seeds) < 2:
        return None
    first = np.asarray([a[seed] for seed in seeds], dtype=np.float64)
    second = np.asarray([b[seed] for seed in seeds], dtype=np.float64)
    differences = first - second
    rounding = 8 * np.finfo(np.float64).eps * float(max(np.abs(first).max(), np.abs(second).max()))
    if float(np.ptp(differences)) <= rounding:
        return None
    statistic = differences.mean() / (differences.std(ddof=1) / math.sqrt(len(seeds)))
    return float(2 * stats.t.sf(abs(statistic), len(seeds) - 1))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjusted p-values, in the given order.

    A None stays None and counts in the family all the same, so that a missing test never helps the others.
    """
    adjusted: list[float | None] = [None] * len(p_values)
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p))
        adjusted[place] = largest
    return adjusted
