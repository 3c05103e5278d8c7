"""Growth exponents: exact power laws, the textbook's interval, its coverage, and straight lines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from metrics.inference.growth_exponent import exponential_rate, growth_exponent, straightness


@pytest.mark.parametrize("exponent", [-1.5, 0.0, 2.0])
def test_a_power_law_is_found(exponent: float) -> None:
    x = [1.0, 2.0, 5.0, 10.0]
    fit = growth_exponent(x, [3.0 * value**exponent for value in x])
    assert fit.exponent == pytest.approx(exponent, abs=1e-12)
    assert fit.factor == pytest.approx(3.0)
    assert fit.points == 4
    assert fit.lo == pytest.approx(exponent, abs=1e-6)
    assert fit.hi == pytest.approx(exponent, abs=1e-6)


def test_the_interval_is_the_textbooks() -> None:
    """Slope +- t sqrt(RSS / (n - 2) / Sxx), written out."""
    x, y = [1.0, 2.0, 4.0, 9.0, 20.0], [2.0, 3.0, 9.0, 11.0, 35.0]
    u, v = np.log(x), np.log(y)
    sxx = ((u - u.mean()) ** 2).sum()
    slope = ((u - u.mean()) * (v - v.mean())).sum() / sxx
    residual = v - v.mean() - slope * (u - u.mean())
    margin = stats.t.ppf(0.95, 3) * math.sqrt((residual**2).sum() / 3 / sxx)
    fit = growth_exponent(x, y, level=0.9)
    assert (fit.exponent, fit.lo, fit.hi) == pytest.approx((slope, slope - margin, slope + margin))


def test_an_exponential_is_found_with_its_interval_and_without_overflow() -> None:
    """A rate is the exponent in exp(x), where that can be written."""
    x, y = [1.0, 2.0, 4.0, 5.0], [2.0, 5.0, 30.0, 100.0]
    rate, power = exponential_rate(x, y), growth_exponent(np.exp(x).tolist(), y)
    assert (rate.exponent, rate.lo, rate.hi, rate.factor) == pytest.approx(
        (power.exponent, power.lo, power.hi, power.factor)
    )
    steep = exponential_rate([0.0, 1_000.0, 2_000.0], [3.0, 3.0 * math.exp(50), 3.0 * math.exp(100)])
    assert (steep.exponent, steep.factor) == pytest.approx((0.05, 3.0))


def test_two_points_have_an_exponent_and_no_interval() -> None:
    fit = growth_exponent([1.0, 10.0], [5.0, 500.0])
    assert fit.exponent == pytest.approx(2.0)
    assert fit.lo is fit.hi is None


def test_straightness_is_the_share_of_variance_explained() -> None:
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 4.0, 9.0, 16.0])
    left = y - np.polyval(np.polyfit(x, y, 1), x)
    assert straightness(x, y) == pytest.approx(1 - left.var() / y.var())
    assert straightness(x**2, y) == pytest.approx(1.0)
    assert straightness(x, np.full(4, 7.0)) == 0.0


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([1.0, 2.0], [1.0], "one length"),
        ([1.0, 1.0], [1.0, 2.0], "two different x"),
        ([1.0, 2.0], [1.0, math.nan], "finite"),
        ([1.0, 2.0], [1.0, 0.0], "positive"),
        ([-1.0, 2.0], [1.0, 1.0], "positive"),
    ],
)
def test_what_cannot_be_fitted_is_refused(x: list[float], y: list[float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        growth_exponent(x, y)
