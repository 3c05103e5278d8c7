"""Schedules of inverse temperatures, and what is estimated from importance weights, by loops."""

from __future__ import annotations

import math

import pytest
import torch

from metrics.likelihood.ais_schedule import SCHEDULES, schedule
from metrics.likelihood.importance_weights import log_mean_weight


@pytest.mark.parametrize("kind", SCHEDULES)
def test_schedules_rise_from_0_to_1(kind: str) -> None:
    for steps in (1, 2, 28, 1000):
        betas = schedule(steps, kind)
        assert len(betas) == steps + 1
        assert betas[0] == 0
        assert betas[-1] == 1
        assert (betas.diff() > 0).all()


def test_schedules_by_hand() -> None:
    assert schedule(4).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    edge = 1 / (1 + math.exp(4.0))
    logistic = [
        (1 / (1 + math.exp(-8 * (share - 0.5))) - edge) / (1 - 2 * edge) for share in (0.25, 0.5, 0.9)
    ]
    assert schedule(20, "sigmoid")[[5, 10, 18]].tolist() == pytest.approx(logistic)
    # Salakhutdinov and Murray (2008): 500 steps to 0.5, 4,000 to 0.9 and 10,000 to 1.
    pieces = schedule(14_500, "pieces")
    assert pieces[[250, 500, 2_500, 4_500, 9_500]].tolist() == pytest.approx([0.25, 0.5, 0.7, 0.9, 0.95])
    assert schedule([0, 0.2, 1.0]).tolist() == [0.0, 0.2, 1.0]


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ([0.0, 0.5, 0.5, 1.0], "a schedule with 0.5 followed by 0.5"),
        ([0.1, 1.0], "a schedule from 0.1 to 1.0"),
        ([0.0, 0.9], "a schedule from 0.0 to 0.9"),
        ([1.0, 0.0], "a schedule with 1.0 followed by 0.0"),
        ([0.0], r"\[0.0\]"),
        ([0.0, "a", 1.0], "a schedule with 'a'"),
        ([0, float("nan"), 1], "a schedule with 0 followed by nan"),
        (0, "0"),
    ],
)
def test_other_schedules_are_refused(given: list[float], fault: str) -> None:
    words = (
        "temperatures must be a whole number of at least 1 or a schedule that increases strictly from 0 to 1"
    )
    with pytest.raises(ValueError, match=f"^{words}, {fault} was given$"):
        schedule(given)


def test_weights_are_summed_up_as_a_loop_would() -> None:
    logs = (3.0 * torch.randn(40, generator=torch.Generator().manual_seed(0), dtype=torch.float64)).tolist()
    weights = [math.exp(value) for value in logs]
    mean = sum(weights) / 40
    spread = math.sqrt(sum((weight - mean) ** 2 for weight in weights) / 39)
    for offset in (0.0, -2000.0, 2000.0):
        found = log_mean_weight(torch.tensor(logs, dtype=torch.float64) + offset)
        assert found.value == pytest.approx(math.log(mean) + offset, abs=1e-9)
        assert found.standard_error == pytest.approx(spread / math.sqrt(40) / mean, rel=1e-9)
        size = sum(weights) ** 2 / sum(weight**2 for weight in weights)
        assert found.effective_sample_size == pytest.approx(size, rel=1e-9)
    shifted, back = found.shifted(10.0), found.reversed(10.0)
    assert (shifted.low, shifted.value, shifted.high) == (10 + found.low, 10 + found.value, 10 + found.high)
    assert (back.low, back.value, back.high) == (10 - found.high, 10 - found.value, 10 - found.low)
    assert back.low < back.value < back.high
    with pytest.raises(ValueError, match="at least two finite numbers"):
        log_mean_weight(torch.tensor([1.0, math.nan]))


def test_the_ends_of_the_effective_sample_size() -> None:
    equal = log_mean_weight(torch.zeros(30))
    single = log_mean_weight(torch.tensor([0.0] + [-500.0] * 29))
    assert (equal.effective_sample_size, equal.standard_error) == pytest.approx((30.0, 0.0))
    assert (single.effective_sample_size, single.standard_error) == pytest.approx((1.0, 1.0))
    assert (equal.low, equal.high) == pytest.approx((0.0, 0.0))


def test_the_interval_covers_as_it_says() -> None:
    """Mean 1; 400 intervals at about 94.5 %: fewer than 350 cover, or all, with probability below 1e-6."""
    generator = torch.Generator().manual_seed(0)
    covered = 0
    for seed in range(400):
        logs = 0.3 * torch.randn(100, generator=generator, dtype=torch.float64) - 0.045
        found = log_mean_weight(logs, seed)
        covered += found.low <= 0.0 <= found.high
    assert 350 <= covered < 400
