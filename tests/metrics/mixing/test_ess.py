"""Effective sample size where it is known, and where nothing moved."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from arviz_stats.base import array_stats

from metrics.metric import UnsupportedMetric
from metrics.mixing.diagnostics import ESS, ESSMode, effective_sample_size
from tests.support.measuring import context, measure, random_draws
from tests.support.targets import Bare, Unlisted, corners


def autoregression(chains: int, draws: int, rho: float, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=(chains, draws))
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0] / np.sqrt(1 - rho**2)
    for t in range(1, draws):
        series[:, t] = rho * series[:, t - 1] + noise[:, t]
    return series


@pytest.mark.parametrize("chains", [1, 4])
def test_autoregression_has_its_known_size(chains: int) -> None:
    series = autoregression(chains, 100_000 // chains, rho=0.9)
    assert effective_sample_size(series) == pytest.approx(100_000 * 0.1 / 1.9, rel=0.1)


def test_independent_draws_count_in_full() -> None:
    assert effective_sample_size(autoregression(4, 25_000, rho=0.0)) == pytest.approx(100_000, rel=0.1)


@pytest.mark.parametrize(
    "series",
    [
        np.zeros((3, 100)),
        np.repeat([[0.0], [1.0]], 100, axis=1),
        np.ones((1, 50), dtype=bool),
        np.random.default_rng(0).normal(size=(5, 3)),
        np.full((2, 100), np.nan),
    ],
    ids=["all equal", "stuck apart", "one chain", "too few draws", "NaN"],
)
def test_what_never_moved_is_worth_nothing(series: np.ndarray) -> None:
    assert effective_sample_size(series) == 0.0


def test_minus_infinity_is_a_low_value_like_others() -> None:
    series = autoregression(4, 500, rho=0.5)
    series[0, 0] = -np.inf
    assert np.isfinite(effective_sample_size(series))
    assert effective_sample_size(series) > 0


@pytest.mark.parametrize("draws", [4, 5, 7, 400])
def test_indicators_need_no_ranks(draws: int) -> None:
    """The plain estimate that is used for two-valued series equals the bulk estimate of all series."""
    for seed in range(5):
        series = autoregression(3, draws, rho=0.5, seed=seed) > 0.3
        if (series == series[:, :1]).all():
            continue
        bulk = float(array_stats.ess(series.astype(float), chain_axis=0, draw_axis=1, method="bulk"))
        assert effective_sample_size(series) == pytest.approx(bulk, rel=1e-9)
        assert np.isfinite(bulk)


@pytest.mark.parametrize("listed", [True, False])
def test_metrics_measure_the_energy_and_the_worst_mode(listed: bool) -> None:
    table = corners()
    target = table if listed else Unlisted(table)
    draws = random_draws(table, steps=300, seeds=2, chains=3)
    draws[:, 1] = draws[:, 1].clamp(max=1.0)  # seed 1 enters the first mode only
    result = measure(context(target, 2, 3), [ESS, ESSMode], draws).result()
    energies = table.log_prob(draws).permute(1, 2, 0).contiguous().numpy()
    labels = table.responsibilities(draws).argmax(-1).permute(1, 2, 0).contiguous().numpy()
    for seed in range(2):
        assert result["ess"][seed].item() == effective_sample_size(energies[seed])
    assert result["ess_mode"][0].item() == min(effective_sample_size(labels[0] == mode) for mode in range(4))
    assert result["ess_mode"][0].item() > 100
    assert result["ess_mode"][1].item() == 0.0


def test_metrics_of_thinned_chains_keep_the_size_of_slow_ones() -> None:
    """AR(1) with rho = 0.9, 20,000 steps of which every 16th is kept: 1,250 x 4 values with rho = 0.185."""
    target = Bare(1)
    series = torch.from_numpy(autoregression(4, 20_000, rho=0.9))
    target.log_prob = lambda theta: theta.squeeze(-1)  # type: ignore[method-assign]
    draws = series.T.reshape(20_000, 1, 4, 1)
    value = measure(context(target, 1, 4), [ESS], draws).result()["ess"].item()
    rho = 0.9**16
    assert value == effective_sample_size(np.ascontiguousarray(series.numpy()[:, 15::16]))
    assert value == pytest.approx(1250 * 4 * (1 - rho) / (1 + rho), rel=0.25)


def test_needs_are_named() -> None:
    with pytest.raises(UnsupportedMetric, match="ess_mode needs a target with known modes; Bare has none"):
        ESSMode(context(Bare()))
