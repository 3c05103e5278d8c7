"""Swap rates and barrier against loops over rounds, pairs and chains."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from metrics.metric import UnsupportedMetric
from metrics.mixing.swaps import Barrier, SwapRate
from tests.support.measuring import context, measure, noisy_infos, random_draws, silent
from tests.support.targets import corners


def test_rates_and_barrier_equal_the_loops() -> None:
    target, infos = corners(), noisy_infos(steps=9, seeds=2, chains=3, replicas=4)
    run = context(target, 2, 3, replicas=4)
    result = measure(run, [SwapRate, Barrier], random_draws(target, 9, 2, 3), infos).result()
    swaps = [info.swap for info in infos if info.swap is not None]
    for seed in range(2):
        means, met, swapped = [], 0, 0
        for pair in range(3):
            total = sum(float(swap.probability[pair, seed, chain]) for swap in swaps for chain in range(3))
            means.append(total / 27)
            met += sum(int(swap.attempted[pair, seed].sum()) for swap in swaps)
            swapped += sum(int(swap.accepted[pair, seed].sum()) for swap in swaps)
        assert result["swap_rate"][seed].item() == pytest.approx(sum(means) / 3, abs=1e-12)
        assert result["swap_rate_min"][seed].item() == pytest.approx(min(means), abs=1e-12)
        assert result["swap_accepted"][seed].item() == pytest.approx(swapped / met, abs=1e-12)
        assert result["barrier"][seed].item() == pytest.approx(3 - sum(means), abs=1e-12)
        assert result["barrier"][seed].item() == pytest.approx(3 * (1 - result["swap_rate"][seed].item()))


def test_steps_without_a_round_are_passed_over() -> None:
    target, infos = corners(), noisy_infos(steps=4, seeds=1, chains=3, replicas=3)
    run, draws = context(target, 1, 3, replicas=3), random_draws(target, 8, 1, 3)
    mixed = [report for info in infos for report in (info, silent(1, 3))]
    plain = measure(context(target, 1, 3, replicas=3), [SwapRate, Barrier], draws[:4], infos).result()
    sparse = measure(run, [SwapRate, Barrier], draws, mixed).result()
    assert all(torch.equal(plain[name], sparse[name]) for name in plain)


def test_no_meeting_is_no_nan() -> None:
    target, (info,) = corners(), noisy_infos(steps=1, seeds=1, chains=1, replicas=2)
    assert info.swap is not None
    never = dataclasses.replace(info.swap, attempted=torch.zeros(1, 1, 1, dtype=torch.bool))
    run = context(target, 1, 1, replicas=2)
    report = dataclasses.replace(info, swap=never)
    result = measure(run, [SwapRate], random_draws(target, 1, 1, 1), [report]).result()
    assert result["swap_accepted"].item() == 0.0


@pytest.mark.parametrize("metric", [SwapRate, Barrier])
def test_needs_are_named(metric) -> None:
    with pytest.raises(
        UnsupportedMetric, match=f"{metric.name} needs a kernel with replicas that swap; Ladder has none"
    ):
        metric(context(corners()))
