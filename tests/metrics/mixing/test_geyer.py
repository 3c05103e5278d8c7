"""Effective sample sizes over all lags at once against ArviZ's loop over lags, and where they are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from arviz_stats.base import array_stats

from metrics.mixing.geyer import geyer_sample_size

KINDS = {
    "independent": lambda noise: noise,
    "walk": lambda noise: noise.cumsum(1),
    "stuck above or below": lambda noise: (noise.cumsum(1) > 0).astype(float),
    "alternating": lambda noise: (-1.0) ** np.arange(noise.shape[1]) + 0.1 * noise,
    "of few values": np.round,
    "apart": lambda noise: noise + 5.0 * np.arange(len(noise))[:, None],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("draws", [4, 5, 6, 7, 8, 9, 30, 61])
def test_the_estimate_is_that_of_arviz(kind: str, draws: int) -> None:
    random = np.random.default_rng(draws)
    for chains in (1, 2, 5, 5, 5, 5):
        series = KINDS[kind](random.normal(size=(chains, draws)))
        expected = array_stats.ess(series, chain_axis=0, draw_axis=1, method="identity")
        assert geyer_sample_size(series) == pytest.approx(float(expected), rel=1e-12)


def test_it_is_that_of_arviz_where_many_pairs_are_summed() -> None:
    random = np.random.default_rng(0)
    noise = random.normal(size=(40, 500))
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0]
    for t in range(1, 500):
        series[:, t] = 0.98 * series[:, t - 1] + noise[:, t]
    expected = array_stats.ess(series, chain_axis=0, draw_axis=1, method="identity")
    assert 100 < expected < 1_000
    assert geyer_sample_size(series) == pytest.approx(float(expected), rel=1e-12)


def test_chains_that_stand_at_different_values_are_worth_one_draw_each_at_most() -> None:
    assert geyer_sample_size(np.repeat([[0.0], [1.0], [2.0]], 100, axis=1)) <= 3.05


def test_equal_values_count_each_and_infinite_ones_have_no_size() -> None:
    assert geyer_sample_size(np.ones((3, 10))) == 30.0
    assert math.isnan(geyer_sample_size(np.array([[0.0, 1.0, -np.inf, 2.0]])))


def test_the_size_is_bounded_where_draws_alternate() -> None:
    series = np.tile([0.0, 1.0], (2, 50))
    assert geyer_sample_size(series) == pytest.approx(200 * math.log10(200))
