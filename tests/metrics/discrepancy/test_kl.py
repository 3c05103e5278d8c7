"""KL against loops over states, and the audit's floors (settings A.3)."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
import torch

from metrics.discrepancy.kl import KL, KLClipped
from targets.spaces import Ordinal
from tests.support.measuring import context, counted, measure, random_draws
from tests.support.targets import Table, corners


def loops(probabilities: list[float], counts: list[int], smoothing: float | None) -> float:
    draws, size = sum(counts), len(counts)
    total = 0.0
    for p, n in zip(probabilities, counts, strict=True):
        if smoothing is None:
            p, q = max(p, 1e-12), max(n / draws, 1e-12)
        else:
            q = (n / draws + smoothing / draws) / (1 + smoothing * size / draws)
        total += p * math.log(p / q)
    return total


@pytest.mark.parametrize(
    ("metric", "smoothing"), [(KL, 0.5), (partial(KL, smoothing=2.0), 2.0), (KLClipped, None)]
)
def test_kl_equals_the_loop_over_states(metric, smoothing) -> None:
    target = corners()
    draws = random_draws(target, steps=7, seeds=3, chains=4)
    (values,) = measure(context(target, 3, 4), [metric], draws).result().values()
    for seed in range(3):
        counts = [0] * 25
        for x, y in draws[:, seed].reshape(-1, 2).int().tolist():
            counts[x * 5 + y] += 1
        assert values[seed].item() == pytest.approx(
            loops(target.probabilities().tolist(), counts, smoothing), abs=1e-12
        )
    assert values.dtype == torch.float64


def test_states_of_probability_zero_are_no_nan() -> None:
    log_prob = torch.tensor([0.0, -torch.inf, 0.0, 1.0], dtype=torch.float64)
    target = Table(Ordinal(2, 2), log_prob, torch.zeros(1, 2))
    suite = counted(context(target, 1, 4), [KL, KLClipped], torch.tensor([[1, 2, 1, 0]]))
    assert all(value.isfinite().all() and (value > 0).all() for value in suite.result().values())


@pytest.fixture(scope="module")
def flat() -> Table:
    space = Ordinal(2, 101)
    return Table(space, torch.zeros(space.size, dtype=torch.float64), torch.zeros(1, 2))


# The relative standard deviation of the value is about sqrt(2 / 10201) = 1.4 % over sqrt(4 seeds); the
# tolerance of 5 % is 7 of them, and the figures are given to two digits.
@pytest.mark.parametrize(("draws", "floor"), [(200_000, 2.7e-2), (1_000_000, 5.1e-3), (5_000_000, 1.0e-3)])
def test_exact_draws_score_the_audits_floor(flat: Table, draws: int, floor: float) -> None:
    counts = np.random.default_rng(0).multinomial(draws, np.full(10_201, 1 / 10_201), size=4)
    result = counted(context(flat, 4, draws), [KL, KLClipped], torch.from_numpy(counts)).result()
    assert result["kl_clipped"].mean().item() == pytest.approx(floor, rel=0.05)
    assert result["kl"].mean().item() == pytest.approx((10_201 - 1) / (2 * draws), rel=0.05)


@pytest.mark.parametrize(("draws", "value"), [(2_000, 14.8), (200, 18.0)])
def test_the_clip_decides_the_value_of_few_draws(flat: Table, draws: int, value: float) -> None:
    counts = np.random.default_rng(0).multinomial(draws, np.full(10_201, 1 / 10_201), size=4)
    result = counted(context(flat, 4, draws), [KL, KLClipped], torch.from_numpy(counts)).result()
    assert result["kl_clipped"].mean().item() == pytest.approx(value, abs=0.06)
    assert result["kl"].max().item() < 1.0
