"""Statistics of a few seeds: mean and 95 % interval, paired t-tests, what they can detect, Holm's correction.

Where the data allow no statement (one seed, no variance) the result is None, never NaN.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

LEVEL = 0.95
ALPHA = 0.05
POWER = 0.8


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


def power_of_two(values: np.ndarray) -> float:
    """What brings the largest of `values` near 1: squares are then finite and not 0, and no bit changes."""
    largest = float(np.abs(values).max())
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0


def _is_rounding(differences: np.ndarray, *of: np.ndarray) -> bool:
    """Whether `differences`, of numbers of the size of those in `of`, vary by rounding alone."""
    size = float(max(np.abs(values).max() for values in of))
    return bool(np.ptp(differences) <= 8 * np.finfo(np.float64).eps * size)


def alike(a: Mapping[int, float], b: Mapping[int, float]) -> bool:
    """Whether `a` and `b` have the same seeds and, but for rounding, the same value for each."""
    if a.keys() != b.keys() or not a:
        return False
    first, second = (np.array([values[seed] for seed in sorted(values)]) for values in (a, b))
    return _is_rounding(np.append(first - second, 0.0), first, second)


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
    size = power_of_two(data)
    mean = size * float((data / size).mean())
    if data.size == 1:
        return Interval(mean, None, None, None, 1)
    sd = 0.0 if _is_rounding(data, data) else size * float((data / size).std(ddof=1))
    if sd == 0.0:
        return Interval(mean, 0.0, None, None, data.size)
    margin = t_quantile(0.5 + level / 2, data.size - 1) * sd / math.sqrt(data.size)
    return Interval(mean, sd, mean - margin, mean + margin, data.size)


def t_quantile(probability: float, degrees: float) -> float:
    """The quantile of Student's t with so many degrees of freedom."""
    return float(special.stdtrit(degrees, probability))


def _paired_differences(a: Mapping[int, float], b: Mapping[int, float]) -> np.ndarray | None:
    """`a` less `b` by shared seed; None for fewer than two seeds, or if they vary by rounding alone."""
    seeds = sorted(a.keys() & b.keys())
    if len(seeds) < 2:
        return None
    first, second = (np.asarray([values[seed] for seed in seeds], dtype=np.float64) for values in (a, b))
    differences: np.ndarray = first - second
    return None if _is_rounding(differences, first, second) else differences


def paired_interval(a: Mapping[int, float], b: Mapping[int, float]) -> Interval | None:
    """Mean and interval of `a` less `b` over the seeds that they share; None where there is none.

    Differences that vary by rounding alone have the standard deviation 0 and no interval.
    """
    seeds = sorted(a.keys() & b.keys())
    found = interval([a[seed] - b[seed] for seed in seeds])
    if found is None or len(seeds) < 2 or _paired_differences(a, b) is not None:
        return found
    return Interval(found.mean, 0.0, None, None, found.n)


def paired_p_value(a: Mapping[int, float], b: Mapping[int, float]) -> float | None:
    """Two-sided p-value of the paired t-test over the seeds that `a` and `b` share.

    None for fewer than two shared seeds and where the differences do not vary.
    """
    differences = _paired_differences(a, b)
    if differences is None:
        return None
    n, differences = differences.size, differences / power_of_two(differences)
    statistic = differences.mean() / (differences.std(ddof=1) / math.sqrt(n))
    return float(2 * special.stdtr(n - 1, -abs(statistic)))


def contradicted(a: Mapping[int, float], b: Mapping[int, float]) -> bool:
    """Whether the means over the seeds that `a` and `b` share are in the other order than those over all.

    A paired t-test then speaks of other means than those of `a` and of `b`. False where no seed is shared.
    """
    shared = a.keys() & b.keys()
    if not shared or len(shared) == len(a) == len(b):
        return False
    of_all = sum(a.values()) / len(a) - sum(b.values()) / len(b)
    return of_all * sum(a[seed] - b[seed] for seed in shared) < 0.0


def agreeing_p_value(a: Mapping[int, float], b: Mapping[int, float]) -> float | None:
    """`paired_p_value`, or 1 where the means over all seeds contradict those over the shared ones."""
    p_value = paired_p_value(a, b)
    return 1.0 if p_value is not None and contradicted(a, b) else p_value


def detectable_difference(
    a: Mapping[int, float], b: Mapping[int, float], power: float = POWER, tests: int = 1
) -> float | None:
    """Smallest true difference of means that the paired t-test of `a` and `b` finds with probability `power`.

    The test is two-sided. The differences are taken as normal with their sample standard deviation. None
    where `paired_p_value` is None.

    Args:
        tests: over how many tests Holm's correction is. Its first step, at the level 0.05 / `tests`, finds
            such a difference so often whatever the other tests find.
    """
    differences = _paired_differences(a, b)
    if differences is None:
        return None
    n, size = differences.size, power_of_two(differences)
    sd = size * float((differences / size).std(ddof=1))
    return standard_errors_found(n - 1, power, tests) * sd / math.sqrt(n)


@functools.lru_cache(maxsize=1024)
def standard_errors_found(degrees: float, power: float, tests: int = 1) -> float:
    """The true difference, in standard errors, that a two-sided t-test finds with probability `power`.

    Its level is 0.05 / `tests`. The squared statistic is noncentral F with 1 and `degrees` degrees of
    freedom.
    """
    # Imported only now: it takes half a second, and most tables need no more than `special`.
    from scipy import optimize, stats

    critical = t_quantile(1 - ALPHA / tests / 2, degrees)

    def excess(ratio: float) -> float:
        """Power at a true difference of `ratio` standard errors, less the one that is wanted."""
        with warnings.catch_warnings():
            # Of two seeds and a thousand tests the series ends early, and is off by 0.1 %.
            warnings.simplefilter("ignore", RuntimeWarning)
            return float(stats.ncf.sf(critical**2, 1, degrees, ratio**2)) - power

    end = 2 * critical
    while excess(end) < 0:
        end *= 2
    return float(optimize.brentq(excess, 0.0, end))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjusted p-values, in the given order.

    None stays None and does not count: where there is no test, nothing can be found by mistake.
    """
    adjusted: list[float | None] = [None] * len(p_values)
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[place] = largest
    return adjusted
