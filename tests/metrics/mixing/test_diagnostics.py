"""Effective sample size and R-hat where they are known, where nothing moved, and of energies and modes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from arviz_stats.base import array_stats

from metrics import ESS, ESSMode, RHat, RHatMode
from metrics.mixing.diagnostics import effective_sample_size, potential_scale_reduction
from metrics.mixing.ranked_chains import chains_by_seed
from metrics.statistics.thinned_series import LogProbSeries
from tests.support.measuring import context, measure, random_draws, silent
from tests.support.targets.modes import Unlisted, corners


def autoregression(chains: int, draws: int, rho: float = 0.0, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=(chains, draws))
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0] / np.sqrt(1 - rho**2)
    for t in range(1, draws):
        series[:, t] = rho * series[:, t - 1] + noise[:, t]
    return series


def split_rhat(series: np.ndarray) -> float:
    """Gelman and Rubin's formula on half chains."""
    half = series.shape[1] // 2
    parts = np.concatenate([series[:, :half], series[:, -half:]])
    within = parts.var(axis=1, ddof=1).mean()
    between = half * parts.mean(axis=1).var(ddof=1)
    return math.sqrt((half - 1) / half + between / (half * within))


@pytest.mark.parametrize(("chains", "rho"), [(1, 0.9), (4, 0.9), (4, 0.0)])
def test_autoregressions_have_their_known_size(chains: int, rho: float) -> None:
    series = autoregression(chains, 100_000 // chains, rho)
    assert effective_sample_size(series) == pytest.approx(100_000 * (1 - rho) / (1 + rho), rel=0.1)


@pytest.mark.parametrize(
    ("series", "ess", "rhat"),
    [
        (np.zeros((3, 100)), 0.0, math.inf),
        (np.repeat([[0.0], [1.0]], 100, axis=1), 0.0, math.inf),
        (np.ones((1, 50), dtype=bool), 0.0, math.inf),
        (np.repeat([[0.0, 1.0]], 50, axis=1), None, math.inf),
        (autoregression(5, 3), 0.0, math.inf),
        (autoregression(1, 7), None, math.inf),
        (np.full((2, 100), np.nan), 0.0, math.inf),
        (np.array([[0.0] * 4 + [5.0] + [0.0] * 4]), 0.0, math.inf),
    ],
    ids=[
        *("never moved", "stuck apart", "one chain", "one switch at the middle"),
        *("too few", "too few of one chain", "NaN", "moved in its middle draw"),
    ],
)
def test_no_evidence_of_mixing_is_worth_nothing(series: np.ndarray, ess: float | None, rhat: float) -> None:
    if ess is not None:
        assert effective_sample_size(series) == ess
    assert potential_scale_reduction(series) == rhat


def test_minus_infinity_is_a_low_value_like_others() -> None:
    series = autoregression(4, 500, rho=0.5)
    series[0, 0] = -np.inf
    assert 0 < effective_sample_size(series) < np.inf


@pytest.mark.parametrize(
    ("series", "low", "high"),
    [
        (autoregression(4, 2_000), 0.99, 1.01),
        (autoregression(1, 2_000), 0.99, 1.01),
        (autoregression(2, 500) + np.array([[0.0], [5.0]]), 1.5, math.inf),
        (autoregression(2, 500) * np.array([[1.0], [30.0]]), 1.1, math.inf),  # only the folded part sees this
        (autoregression(1, 500) + np.linspace(0, 10, 500), 1.5, math.inf),
    ],
    ids=["agree", "one agrees with itself", "apart", "of different width", "one that drifts"],
)
def test_rhat_is_one_for_chains_that_agree_alone(series: np.ndarray, low: float, high: float) -> None:
    assert low <= potential_scale_reduction(series) <= high


@pytest.mark.parametrize("draws", [4, 5, 7, 400])
def test_indicators_need_no_ranks(draws: int) -> None:
    """The plain and the split form, used for two-valued series, equal the rank-normalised ones."""
    compared = 0
    for seed in range(8):
        series = autoregression(3, draws, rho=0.5, seed=seed) > 0.3
        numbers = series.astype(float)
        if not (series == series[:, :1]).all():
            bulk = float(array_stats.ess(numbers, chain_axis=0, draw_axis=1, method="bulk"))
            assert effective_sample_size(series) == pytest.approx(bulk, rel=1e-9)
        value = potential_scale_reduction(series)
        if math.isinf(value):
            continue
        with np.errstate(invalid="ignore"):
            rank = float(array_stats.rhat(numbers, chain_axis=0, draw_axis=1, method="rank"))
        assert value == pytest.approx(rank, rel=1e-9)
        assert value == pytest.approx(split_rhat(numbers), rel=1e-9)
        compared += 1
    assert compared >= 2


@pytest.mark.parametrize("draws", [4, 7, 8, 9, 301])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ranks_of_distinct_values_are_those_of_arviz(draws: int, dtype: type) -> None:
    steady = autoregression(3, draws, rho=0.5).astype(dtype)
    low = np.where(steady < 0.3, -np.inf, steady)  # a median of minus infinity has no distances
    for series in (steady, np.round(2 * steady), low, np.maximum(steady, 0.1), steady[:1]):
        numbers = series.astype(np.float64)
        bulk = array_stats.ess(numbers, chain_axis=0, draw_axis=1, method="bulk")
        parts = numbers if len(series) > 1 else np.concatenate(np.split(numbers[:, : draws // 2 * 2], 2, 1))
        with np.errstate(invalid="ignore"):
            rank = array_stats.rhat(parts, chain_axis=0, draw_axis=1, method="rank")
        np.testing.assert_allclose(effective_sample_size(series), bulk, rtol=1e-12)
        if parts.shape[1] >= 4 and (len(series) > 1 or draws % 2 == 0):
            np.testing.assert_allclose(potential_scale_reduction(series), rank, rtol=1e-12)


def test_series_are_ranked_once_for_all_metrics_and_anew_after_a_step() -> None:
    run = context(corners(), 1, 3)
    suite = measure(run, [ESS, RHat], random_draws(corners(), steps=40, seeds=1, chains=3))
    series = run.statistic(LogProbSeries)
    (before,) = series.made(chains_by_seed)
    assert series.made(chains_by_seed)[0] is before
    saved = suite.state_dict()
    series.update(41, corners().space.states(torch.float32)[:3].unsqueeze(0), silent(1, 3))
    (after,) = series.made(chains_by_seed)
    assert after.series.shape == (3, 41)
    suite.load_state_dict(saved)
    assert series.made(chains_by_seed)[0].series.shape == (3, 40)


@pytest.mark.parametrize("listed", [True, False])
def test_metrics_measure_the_energy_and_the_worst_mode(listed: bool) -> None:
    table = corners()
    target = table if listed else Unlisted(table)
    draws = random_draws(table, steps=300, seeds=3, chains=3)
    draws[:, 1, 0] = draws[:, 1, 0].clamp(max=1.0)  # one chain of seed 1 stays in the first corner
    draws[:, 2] = draws[:, 2].clamp(max=1.0)  # seed 2 enters the first mode only
    result = measure(context(target, 3, 3), [ESS, ESSMode, RHat, RHatMode], draws).result()
    energies = table.log_prob(draws).permute(1, 2, 0).contiguous().numpy()
    labels = table.responsibilities(draws).argmax(-1).permute(1, 2, 0).contiguous().numpy()
    for seed in range(3):
        modes = [labels[seed] == mode for mode in range(4)]
        assert result["ess"][seed].item() == effective_sample_size(energies[seed])
        assert result["ess_mode"][seed].item() == min(map(effective_sample_size, modes))
        assert result["rhat"][seed].item() == potential_scale_reduction(energies[seed])
        assert result["rhat_mode"][seed].item() == max(map(potential_scale_reduction, modes))
    assert result["ess_mode"][0] > 100
    assert result["ess_mode"][2] == 0.0
    assert result["rhat_mode"][0] < 1.05
    assert result["rhat_mode"][1] > 1.2
