"""The mean of several groups: against draws, the t-test of one group, and SciPy's test of two."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from metrics.inference.few_seeds import Interval, detectable_difference, interval, paired_p_value
from metrics.inference.group_means import group_detectable, group_interval, group_p_value

A, B = [1.0, 2.5, 3.0, 2.0], [2.0, 9.0, 4.0]


def known(values: list[float]) -> Interval:
    found = interval(values)
    assert found is not None
    return found


def test_one_group_has_the_t_test() -> None:
    groups, zeros = [known(A)], dict.fromkeys(range(4), 0.0)
    values = dict(enumerate(A))
    assert group_p_value(groups) == pytest.approx(paired_p_value(values, zeros), rel=1e-12)
    assert group_detectable(groups, tests=3) == pytest.approx(detectable_difference(values, zeros, tests=3))
    found = group_interval(groups)
    assert found is not None
    assert (found.lo, found.hi) == pytest.approx((groups[0].lo, groups[0].hi))


def test_of_two_groups_the_mean_is_half_of_scipys_difference() -> None:
    """Of one group and the other one with its sign turned."""
    groups = [known(A), known([-value for value in B])]
    welch = stats.ttest_ind(A, B, equal_var=False)
    assert group_p_value(groups) == pytest.approx(welch.pvalue, rel=1e-12)
    found, ends = group_interval(groups), welch.confidence_interval(0.95)
    assert found is not None
    assert found.n == 7
    assert (found.lo, found.hi) == pytest.approx((ends.low / 2, ends.high / 2))


def test_the_interval_holds_the_mean_in_95_of_100_draws() -> None:
    """Of five groups of five with other means and deviations; without groups it would be too wide."""
    means, deviations = np.array([-3.0, 0.0, 2.0, 5.0, 1.0]), np.array([1.0, 0.3, 2.0, 0.1, 1.0])
    draws = means[:, None] + deviations[:, None] * np.random.default_rng(0).normal(size=(2000, 5, 5))
    held = 0
    for draw in draws:
        found = group_interval([known(list(group)) for group in draw])
        assert found is not None
        assert found.lo is not None
        assert found.hi is not None
        held += found.lo <= means.mean() <= found.hi
    assert abs(held / 2000 - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 2000)


def test_the_smallest_mean_is_found_with_the_power_asked_for() -> None:
    """Groups alike: of m groups of n values there are m (n - 1) degrees of freedom."""
    found = group_detectable([Interval(0.0, 1.0, None, None, 5)] * 4, tests=15)
    assert found is not None
    noncentral, critical = found * math.sqrt(20), stats.t.ppf(1 - 0.025 / 15, 16)
    power = stats.nct.sf(critical, 16, noncentral) + stats.nct.cdf(-critical, 16, noncentral)
    assert power == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize(
    "groups",
    [[], [Interval(1.0, None, None, None, 1), known(A)], [Interval(1.0, 0.0, None, None, 3)] * 2],
    ids=["no group", "a group of one value", "no variance"],
)
def test_without_variance_there_is_no_test(groups: list[Interval]) -> None:
    assert group_p_value(groups) is None
    assert group_detectable(groups) is None
    assert group_interval(groups) is None


def test_a_group_that_does_not_vary_counts_for_the_mean() -> None:
    found = group_interval([known(A), Interval(1.0, 0.0, None, None, 3)])
    assert found is not None
    assert found.mean == pytest.approx((known(A).mean + 1.0) / 2)
    assert found.margin == pytest.approx((known(A).margin or 0.0) / 2)
