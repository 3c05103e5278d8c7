"""Growth of a measured cost: exponent of a power law, rate of an exponential, and linearity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metrics.inference.few_seeds import t_quantile

LEVEL = 0.95


@dataclass(frozen=True)
class GrowthExponent:
    """The least-squares line log y = a + p log x, or log y = a + p x.

    Attributes:
        exponent: p.
        lo, hi: ends of the Student-t interval of p, for independent normal residuals of equal variance; None
            for two points.
        factor: exp(a), the fitted y at x = 1, or at x = 0.
        points: number of points.
    """

    exponent: float
    lo: float | None
    hi: float | None
    factor: float
    points: int


def growth_exponent(x: Sequence[float], y: Sequence[float], level: float = LEVEL) -> GrowthExponent:
    """The exponent p of y = c x^p, with its interval.

    Args:
        x, y: positive numbers, one pair for each point.
        level: coverage of the interval.

    Raises:
        ValueError: if lengths differ, a number is not positive and finite, or x has fewer than two values.
    """
    abscissa, ordinate = _pairs(x, y)
    return _line(np.log(_positive(abscissa)), np.log(_positive(ordinate)), level)


def exponential_rate(x: Sequence[float], y: Sequence[float], level: float = LEVEL) -> GrowthExponent:
    """The rate p of y = c exp(p x), with its interval.

    Args:
        x, y: numbers, one pair for each point; y positive.
        level: coverage of the interval.

    Raises:
        ValueError: if lengths differ, a number is not finite, a y not positive, or x has fewer than two
            values.
    """
    abscissa, ordinate = _pairs(x, y)
    return _line(abscissa, np.log(_positive(ordinate)), level)


def straightness(x: Sequence[float], y: Sequence[float]) -> float:
    """R squared of the least-squares line y = a + b x: the share of y's variance that it explains.

    1 for two points; 0 if y is constant, as there is no variance to explain.

    Raises:
        ValueError: if lengths differ, a number is not finite, or x has fewer than two values.
    """
    abscissa, ordinate = _pairs(x, y)
    if np.ptp(ordinate) == 0.0:
        return 0.0
    return float(_fit(abscissa, ordinate).rvalue ** 2)


def _fit(abscissa: np.ndarray, ordinate: np.ndarray) -> Any:
    """SciPy's least-squares line; imported only now, since it takes half a second."""
    from scipy import stats

    return stats.linregress(abscissa, ordinate)


def _line(abscissa: np.ndarray, ordinate: np.ndarray, level: float) -> GrowthExponent:
    line = _fit(abscissa, ordinate)
    exponent, points = float(line.slope), len(abscissa)
    if points == 2:
        return GrowthExponent(exponent, None, None, float(np.exp(line.intercept)), points)
    # SciPy gives NaN where y does not vary.
    margin = t_quantile(0.5 + level / 2, points - 2) * float(np.nan_to_num(line.stderr))
    return GrowthExponent(
        exponent, exponent - margin, exponent + margin, float(np.exp(line.intercept)), points
    )


def _positive(values: np.ndarray) -> np.ndarray:
    if not (values > 0).all():
        raise ValueError("growth needs positive numbers, others were given")
    return values


def _pairs(x: Sequence[float], y: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    abscissa, ordinate = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if abscissa.shape != ordinate.shape or abscissa.ndim != 1:
        raise ValueError(
            f"x and y must be lists of one length, {abscissa.size} and {ordinate.size} were given"
        )
    if not np.isfinite(abscissa).all() or not np.isfinite(ordinate).all():
        raise ValueError("a fit needs finite numbers, others were given")
    if len(set(abscissa.tolist())) < 2:
        raise ValueError(f"a fit needs at least two different x, {sorted(set(abscissa.tolist()))} were given")
    return abscissa, ordinate
