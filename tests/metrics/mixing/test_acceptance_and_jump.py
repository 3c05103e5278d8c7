"""Acceptance and jump are plain means over steps and chains."""

from __future__ import annotations

import math

import pytest
import torch

from metrics.mixing.step_means import Acceptance, Jump
from samplers.kernel import Info
from tests.support.measuring import context, measure, noisy_infos, random_draws
from tests.support.targets import corners


def test_both_are_means_over_steps_and_chains() -> None:
    target, infos = corners(), noisy_infos(steps=9, seeds=2, chains=3)
    result = measure(context(target, 2, 3), [Acceptance, Jump], random_draws(target, 9, 2, 3), infos).result()
    for seed in range(2):
        acceptance = [float(info.acceptance[seed, chain]) for info in infos for chain in range(3)]
        jump = [float(info.jump[seed, chain]) for info in infos for chain in range(3)]
        assert result["acceptance"][seed].item() == pytest.approx(sum(acceptance) / 27, abs=1e-12)
        assert result["jump"][seed].item() == pytest.approx(sum(jump) / 27, abs=1e-12)


def test_sums_of_single_precision_reports_do_not_stall() -> None:
    """In float32 the sum would stop growing at 2^24; here each of 4 reports weighs what it should."""
    target = corners()
    big = Info(torch.full((1, 1), 2.0**25), torch.full((1, 1), 2.0**25), 1)
    small = Info(torch.ones(1, 1), torch.ones(1, 1), 1)
    draws = random_draws(target, 4, 1, 1)
    result = measure(context(target), [Jump], draws, [big, small, small, small]).result()
    assert result["jump"].item() == (2.0**25 + 3) / 4


def test_a_nan_stays_visible_in_its_own_seed() -> None:
    target, (info,) = corners(), noisy_infos(steps=1, seeds=2, chains=3)
    info.acceptance[1, 2] = math.nan
    result = measure(context(target, 2, 3), [Acceptance], random_draws(target, 1, 2, 3), [info]).result()
    assert result["acceptance"].isnan().tolist() == [False, True]
