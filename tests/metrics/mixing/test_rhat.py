"""R-hat of chains that agree, that are stuck apart, and that never moved."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from arviz_stats.base import array_stats

from metrics.metric import UnsupportedMetric
from metrics.mixing.diagnostics import RHat, RHatMode, potential_scale_reduction
from tests.support.measuring import context, measure, random_draws
from tests.support.targets import Bare, corners


def noise(chains: int, draws: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(chains, draws))


def split_rhat(series: np.ndarray) -> float:
    """Gelman and Rubin's formula on half chains."""
    half = series.shape[1] // 2
    parts = np.concatenate([series[:, :half], series[:, -half:]])
    within = parts.var(axis=1, ddof=1).mean()
    between = half * parts.mean(axis=1).var(ddof=1)
    return math.sqrt((half - 1) / half + between / (half * within))


def test_chains_that_agree_score_one() -> None:
    assert potential_scale_reduction(noise(4, 2_000)) == pytest.approx(1.0, abs=0.01)
    assert potential_scale_reduction(noise(1, 2_000)) == pytest.approx(1.0, abs=0.01)


def test_chains_apart_score_high() -> None:
    assert potential_scale_reduction(noise(2, 500) + np.array([[0.0], [5.0]])) > 1.5


def test_chains_of_different_width_score_high() -> None:
    """Only the folded part of the rank-normalised form sees this."""
    assert potential_scale_reduction(noise(2, 500) * np.array([[1.0], [30.0]])) > 1.1


def test_a_single_chain_that_drifts_scores_high() -> None:
    assert potential_scale_reduction(noise(1, 500) + np.linspace(0, 10, 500)) > 1.5


@pytest.mark.parametrize(
    "series",
    [
        np.repeat([[0.0], [1.0]], 100, axis=1),
        np.zeros((3, 100)),
        np.repeat([[0.0, 1.0]], 50, axis=1),
        noise(4, 3),
        noise(1, 7),
        np.full((2, 100), np.nan),
    ],
    ids=["stuck apart", "never moved", "one switch at the middle", "too few", "too few of one chain", "NaN"],
)
def test_no_evidence_of_mixing_is_infinite(series: np.ndarray) -> None:
    assert potential_scale_reduction(series) == math.inf


@pytest.mark.parametrize("draws", [4, 5, 7, 400])
def test_indicators_need_no_ranks(draws: int) -> None:
    """For two-valued series the split form, which is used, equals the rank-normalised one and the formula."""
    for seed in range(8):
        series = noise(3, draws, seed) > 0.3
        value = potential_scale_reduction(series)
        if math.isinf(value):
            continue
        with np.errstate(invalid="ignore"):
            rank = float(array_stats.rhat(series.astype(float), chain_axis=0, draw_axis=1, method="rank"))
        assert value == pytest.approx(rank, rel=1e-9)
        assert value == pytest.approx(split_rhat(series.astype(float)), rel=1e-9)


def test_chains_stuck_in_different_modes_are_found_by_the_mode_indicator_alone() -> None:
    """Each chain moves freely within its own corner; a symmetric energy sees no difference."""
    target = corners()
    inside = torch.randint(0, 2, (400, 1, 2, 2), generator=torch.Generator().manual_seed(0)).double()
    target.table.copy_(-(target.space.states() - 2).square().sum(-1))
    draws = inside.clone()
    draws[:, :, 1] = 4 - inside[:, :, 1]
    result = measure(context(target, 1, 2), [RHat, RHatMode], draws).result()
    assert result["rhat"].item() < 1.05
    assert result["rhat_mode"].item() > 1.5


def test_metrics_measure_the_energy_and_the_worst_mode() -> None:
    target = corners()
    draws = random_draws(target, steps=300, seeds=2, chains=3)
    draws[:, 1, 0] = draws[:, 1, 0].clamp(max=1.0)  # one chain of seed 1 stays in the first corner
    result = measure(context(target, 2, 3), [RHat, RHatMode], draws).result()
    energies = target.log_prob(draws).permute(1, 2, 0).contiguous().numpy()
    labels = target.responsibilities(draws).argmax(-1).permute(1, 2, 0).contiguous().numpy()
    for seed in range(2):
        assert result["rhat"][seed].item() == potential_scale_reduction(energies[seed])
        worst = max(potential_scale_reduction(labels[seed] == mode) for mode in range(4))
        assert result["rhat_mode"][seed].item() == worst
    assert result["rhat_mode"][0].item() < 1.05
    assert result["rhat_mode"][1].item() > 1.3


def test_needs_are_named() -> None:
    with pytest.raises(UnsupportedMetric, match="rhat_mode needs a target with known modes; Bare has none"):
        RHatMode(context(Bare()))
