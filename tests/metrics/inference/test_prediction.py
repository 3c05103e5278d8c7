"""The prediction interval: by the textbook, and by how many further means lie in it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from metrics.inference.few_seeds import Interval, interval
from metrics.inference.prediction import prediction_interval


def test_it_is_the_textbooks() -> None:
    half = float(stats.t.ppf(0.975, 5)) * math.sqrt(7 / 6)
    assert prediction_interval(Interval(10.0, 1.0, 9.0, 11.0, 6)) == pytest.approx((10 - half, 10 + half))


def test_one_value_has_none_and_equal_values_have_no_width() -> None:
    assert prediction_interval(Interval(3.0, None, None, None, 1)) is None
    assert prediction_interval(Interval(3.0, 0.0, None, None, 4)) == (3.0, 3.0)


def test_of_many_more_values_it_is_the_interval_of_the_mean() -> None:
    ours = interval([1.0, 2.5, 3.0, 2.0])
    assert ours is not None
    assert prediction_interval(ours, more=10**9) == pytest.approx((ours.lo, ours.hi))


@pytest.mark.parametrize(("n", "more", "level"), [(2, 1, 0.95), (5, 1, 0.95), (5, 3, 0.8)])
def test_it_holds_so_many_further_means(n: int, more: int, level: float) -> None:
    draws = 20_000
    values = np.random.default_rng(n).normal(3.0, 2.0, (draws, n + more))
    inside = 0
    for row in values:
        ours = interval([float(each) for each in row[:n]])
        assert ours is not None
        lo, hi = prediction_interval(ours, more, level) or (0.0, 0.0)
        inside += bool(lo <= row[n:].mean() <= hi)
    assert inside / draws == pytest.approx(level, abs=4 * math.sqrt(level * (1 - level) / draws))
