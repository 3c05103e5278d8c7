"""Welch's test from summaries: against SciPy's, and the power at the smallest difference that it finds."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from metrics.inference.few_seeds import Interval, interval
from metrics.inference.welch import welch_detectable, welch_interval, welch_p_value

A_VALUES, B_VALUES = [1.0, 2.5, 3.0, 2.0], [2.0, 9.0, 4.0]
A, B = interval(A_VALUES), interval(B_VALUES)
assert A is not None
assert B is not None


def test_the_p_value_is_scipys() -> None:
    expected = stats.ttest_ind_from_stats(A.mean, A.sd, A.n, B.mean, B.sd, B.n, equal_var=False).pvalue
    assert welch_p_value(A, B) == pytest.approx(expected, rel=1e-12)
    assert welch_p_value(B, A) == pytest.approx(expected, rel=1e-12)


def test_the_interval_is_scipys() -> None:
    expected = stats.ttest_ind(A_VALUES, B_VALUES, equal_var=False).confidence_interval(0.95)
    found = welch_interval(A, B)
    assert found is not None
    assert (found.lo, found.hi) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert found.n == A.n + B.n


def test_the_smallest_difference_is_found_with_the_power_asked_for() -> None:
    a, b = Interval(0.0, 1.0, None, None, 6), Interval(0.0, 1.0, None, None, 6)
    found = welch_detectable(a, b)
    assert found is not None
    noncentral, critical = found / math.sqrt(2 / 6), stats.t.ppf(0.975, 10)
    power = stats.nct.sf(critical, 10, noncentral) + stats.nct.cdf(-critical, 10, noncentral)
    assert power == pytest.approx(0.8, abs=1e-9)


def test_the_smallest_difference_allows_for_the_correction() -> None:
    a, b = Interval(0.0, 1.0, None, None, 6), Interval(0.0, 1.0, None, None, 6)
    found = welch_detectable(a, b, tests=15)
    assert found is not None
    noncentral, critical = found / math.sqrt(2 / 6), stats.t.ppf(1 - 0.025 / 15, 10)
    power = stats.nct.sf(critical, 10, noncentral) + stats.nct.cdf(-critical, 10, noncentral)
    assert power == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize("unit", [1e-170, 1e-90, 1e80, 1e150])
def test_the_unit_of_the_values_changes_nothing(unit: float) -> None:
    a, b = interval([unit, 2 * unit, 4 * unit]), interval([3 * unit, 9 * unit])
    one, other = interval([1.0, 2.0, 4.0]), interval([3.0, 9.0])
    assert a is not None
    assert b is not None
    assert one is not None
    assert other is not None
    assert welch_p_value(a, b) == pytest.approx(welch_p_value(one, other), rel=1e-12)
    assert welch_detectable(a, b) == pytest.approx(unit * (welch_detectable(one, other) or 0.0), rel=1e-9)


@pytest.mark.parametrize("one", [Interval(1.0, None, None, None, 1), Interval(1.0, 0.0, None, None, 3)])
def test_without_variance_there_is_no_test(one: Interval) -> None:
    assert welch_p_value(one, Interval(2.0, 0.0, None, None, 3)) is None
    assert welch_detectable(one, Interval(2.0, 0.0, None, None, 3)) is None
