"""The norm of the mean: both readings by brute force, with levels, and the steps until it is small."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor

from metrics.mixing.mean_norm import MeanNorm
from targets.synthetic.gaussian_mixture import GaussianMixture
from tests.support.measuring import context, measure, silent

TARGET = GaussianMixture([[-1.0, 0.0], [1.0, 0.0]]).double()
STEPS, SEEDS, CHAINS = 12, 2, 4


def levels(low: int = 0) -> Tensor:
    """Levels ``(steps, seeds, chains)``; the last chain of the first seed is never cold."""
    drawn = torch.randint(low, 3, (STEPS, SEEDS, CHAINS), generator=torch.Generator().manual_seed(1))
    drawn[:, 0, -1] = 2
    drawn[0, :, 0] = 0
    return drawn


def draws() -> Tensor:
    return torch.randn(STEPS, SEEDS, CHAINS, 2, generator=torch.Generator().manual_seed(2)).double()


def fed(theta: Tensor, level: Tensor | None = None, **options: float) -> dict[str, Tensor]:
    """The values after draws ``(steps, seeds, chains, 2)``, at the cold level where `level` says nothing."""
    size = theta.shape[1:3]
    infos = [
        silent(*size) if level is None else replace(silent(*size), level=at)
        for at in (theta if level is None else level)
    ]
    return measure(context(TARGET, *size), [partial(MeanNorm, **options)], theta, infos).result()


def by_hand(theta: Tensor, level: Tensor) -> tuple[float, float]:
    """mean_norm and mean_norm_now of one seed, ``(steps, chains, d)``, chain by chain."""
    states, cold = theta.numpy(), level.numpy() == 0
    means = [states[cold[:, chain], chain].mean(0) for chain in range(CHAINS) if cold[:, chain].any()]
    present = [states[-1, chain] for chain in range(CHAINS) if cold[-1, chain]]
    now = np.linalg.norm(np.mean(present, 0)) if present else math.nan
    return float(np.linalg.norm(np.mean(means, 0))), float(now)


def test_all_states_of_a_plain_kernel_count() -> None:
    theta = draws()
    found = fed(theta)
    torch.testing.assert_close(found["mean_norm"], theta.mean((0, 2)).norm(dim=-1))
    torch.testing.assert_close(found["mean_norm_now"], theta[-1].mean(1).norm(dim=-1))
    scatter = (theta.mean(0).var(1).sum(-1) / CHAINS).sqrt()
    torch.testing.assert_close(found["mean_norm_noise"], scatter)
    torch.testing.assert_close(found["mean_norm_log2"], (1 / found["mean_norm"]).log().square())


def test_an_effective_draw_costs_the_variance_of_means_over_that_of_states() -> None:
    theta, level = draws(), levels()
    found = fed(theta, level)["steps_per_draw"]
    for seed in range(SEEDS):
        states, cold = theta[:, seed].numpy(), level[:, seed].numpy() == 0
        means = [states[cold[:, chain], chain].mean(0) for chain in range(CHAINS) if cold[:, chain].any()]
        ratio = np.var(means, 0, ddof=1).sum() / np.var(states[cold], 0).sum()
        assert float(found[seed]) == pytest.approx(STEPS * ratio)


@pytest.mark.parametrize("length", [1, 5, STEPS])
def test_only_states_at_the_cold_level_count(length: int) -> None:
    theta, level = draws()[:length], levels()[:length]
    found = fed(theta, level)
    for seed in range(SEEDS):
        norm, now = by_hand(theta[:, seed], level[:, seed])
        assert float(found["mean_norm"][seed]) == pytest.approx(norm, rel=1e-12)
        assert float(found["mean_norm_now"][seed]) == pytest.approx(now, rel=1e-12, nan_ok=True)


def test_before_any_cold_state_there_is_no_value() -> None:
    found = fed(draws(), levels().clamp(min=1))
    assert all(bool(value.isnan().all()) for value in found.values())


def draws_with(norms: list[list[float]]) -> Tensor:
    """Draws ``(steps, seeds, 1, 2)`` of one chain whose running mean has these norms at each step."""
    wanted = torch.tensor(norms, dtype=torch.float64)
    sums = wanted * torch.arange(1, len(norms) + 1).unsqueeze(-1)
    steps = sums.diff(dim=0, prepend=torch.zeros_like(sums[:1]))
    return torch.stack([0.6 * steps, 0.8 * steps], -1).unsqueeze(2)


def test_the_steps_to_the_threshold_are_those_of_the_first_fall_and_of_the_last() -> None:
    """The first seed falls, rises and falls again; the second stays; the third leaves; the fourth never."""
    norms = [
        [3.0, 2.0, 3.0, 3.0],
        [0.4, 0.4, 0.4, 3.0],
        [0.6, 0.3, 0.4, 3.0],
        [0.4, 0.3, 0.4, 3.0],
        [0.4, 0.2, 0.9, 3.0],
    ]
    found = fed(draws_with(norms), threshold=0.5, every=1)
    assert found["steps_to_threshold_first"].nan_to_num(-1).tolist() == [2, 2, 2, -1]
    assert found["steps_to_threshold"].nan_to_num(-1).tolist() == [4, 2, -1, -1]
    # Of the states themselves: theta_t = t m_t - (t - 1) m_{t - 1}.
    present = draws_with(norms).squeeze(2).norm(dim=-1)
    below, last = (present < 0.5).tolist(), []
    for seed in range(4):
        step = 5
        while step and below[step - 1][seed]:
            step -= 1
        last.append(step + 1 if step < 5 else -1)
    assert found["steps_to_threshold_now"].nan_to_num(-1).tolist() == last


def test_the_threshold_is_looked_at_every_ten_steps() -> None:
    found = fed(draws_with([[0.05]] * 35))
    assert found["steps_to_threshold"].tolist() == [10]
    assert fed(draws_with([[2.0]]))["mean_norm_log2"].isnan().all(), (
        "ln squared increases with a norm above 1"
    )


def test_the_last_step_is_compared_where_it_is_none_of_those() -> None:
    """It falls below, leaves again, or is the only one; `every` may be longer than the run."""
    names = ("steps_to_threshold", "steps_to_threshold_first")
    for norms, every, expected in (
        ([0.05] * 9, 10, (9, 9)),
        ([0.05] * 300, 1000, (300, 300)),
        ([2.0] * 13 + [0.05] * 2, 10, (15, 15)),
        ([0.05] * 13 + [2.0] * 2, 10, (-1, 10)),
    ):
        found = fed(draws_with([[norm] for norm in norms]), every=every)
        assert tuple(int(found[name].nan_to_num(-1)) for name in names) == expected
