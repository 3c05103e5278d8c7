"""Kept steps that look slower than the chains are, such as every fourth one of chains of period 4."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from metrics.mixing.autocorrelation import AutocorrelationTimeMagnetisation
from metrics.mixing.diagnostics import ESSMagnetisation, ESSMode
from metrics.statistics.aliasing import TURNS, slow_strides, strides
from targets import Ising
from tests.support.measuring import context, measure
from tests.support.targets.modes import corners


def turning(period: int, advance: float, steps: int, chains: int, seed: int = 0) -> Tensor:
    """Places 0 .. period - 1 ``(steps, chains)`` of chains that go on by one, or else anywhere."""
    random = torch.Generator().manual_seed(seed)
    places, found = torch.randint(period, (chains,), generator=random), []
    for _ in range(steps):
        goes = torch.rand(chains, generator=random) < advance
        places = torch.where(goes, places + 1, torch.randint(period, (chains,), generator=random)) % period
        found.append(places)
    return torch.stack(found)


def autoregressive(rho: float, steps: int, chains: int, seed: int = 0) -> Tensor:
    random = torch.Generator().manual_seed(seed)
    noise = torch.randn((steps, chains), generator=random, dtype=torch.float64) * math.sqrt(1 - rho**2)
    found = [noise[0] / math.sqrt(1 - rho**2)]
    for step in noise[1:]:
        found.append(rho * found[-1] + step)
    return torch.stack(found)


def slow(series: Tensor) -> list[int]:
    flags = slow_strides(series.double().unsqueeze(1))
    return [stride for stride, flag in zip(strides(len(series)), flags.tolist(), strict=True) if flag]


def test_the_strides_are_those_of_which_the_rows_can_tell() -> None:
    assert strides(15) == []
    assert strides(16) == [2]
    assert strides(2048) == [2, 4, 8, 16, 32, 64, 128, 256]


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("stride", [2, 4, 16])
def test_no_mixture_of_positive_eigenvalues_exceeds_independent_draws(stride: int, turns: int) -> None:
    """By the covariances of a block, for eigenvalues from 0 to nearly 1; a negative one does."""
    size = turns * stride
    lags = (torch.arange(size).unsqueeze(0) - torch.arange(size).unsqueeze(1)).abs()
    place = torch.nn.functional.one_hot(torch.arange(size) % stride).double().T / turns
    away = place - place.mean(0)

    def mean(eigenvalue: float) -> float:
        covariance = torch.tensor(eigenvalue, dtype=torch.float64) ** lags
        return turns * float((away @ covariance @ away.T).trace()) / (stride - 1)

    found = [mean(1.0 - 10.0 ** (-power / 4)) for power in range(1, 24)]
    assert max(found) <= 1.0
    assert mean(0.0) == pytest.approx(1.0)
    assert mean(-0.9) > 1.4


@pytest.mark.parametrize("chains", [1, 50])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.99, 0.9999])
def test_chains_without_a_period_do_not_look_slow(rho: float, chains: int) -> None:
    for seed in range(5):
        assert slow(autoregressive(rho, 2048, chains, seed)) == []


@pytest.mark.parametrize("chains", [1, 50])
def test_chains_with_a_period_look_slow_from_that_stride_on(chains: int) -> None:
    for period in (2, 4, 8, 32):
        series = (2.0 * math.pi * turning(period, 0.9999, 2048, chains) / period).cos()
        assert slow(series) == [stride for stride in strides(2048) if stride >= period]
    for period in (3, 5, 7):  # every second, fourth, .. step of them goes on
        assert slow((turning(period, 0.9999, 2048, chains) == 0).double()) == []
    # A fifth of the variance is of period 2: half of the chains are never there at even steps.
    assert slow((turning(6, 0.9999, 2048, chains) == 0).double()) == [2, 4, 8, 16, 32]


def test_a_period_that_is_lost_between_kept_steps_is_none() -> None:
    """Four steps in a row that go on with probability 0.5 each hardly ever do."""
    assert slow((2.0 * math.pi * turning(4, 0.5, 2048, 20) / 4).cos()) == []
    assert slow(autoregressive(-0.9, 2048, 20)) == [2, 4, 8]


def test_a_slow_chain_that_swings_a_little_is_slow() -> None:
    swing = (2.0 * math.pi * turning(4, 0.999, 2048, 20) / 4).cos()
    series = autoregressive(0.999, 2048, 20)
    assert slow(series + 0.1 * swing) == []
    assert slow(0.1 * series + swing) != []


def test_a_constant_series_and_one_with_nan_do_not_look_slow() -> None:
    for value in (1.0, math.nan, math.inf):
        assert not slow_strides(torch.full((64, 1, 3), value, dtype=torch.float64)).any()


def up_and_down(target: Ising, steps: int, chains: int) -> Tensor:
    """Draws ``(steps, 1, chains, d)``: all spins are up for two steps and down for two, but for chance."""
    up = turning(4, 0.98, steps, chains) < 2
    return up[:, None, :, None].expand(-1, 1, -1, target.space.d).double()


def test_chains_of_period_four_have_no_number_once_every_fourth_step_is_kept() -> None:
    target = Ising(size=[2, 2], coupling=0.3)
    metrics = [AutocorrelationTimeMagnetisation, ESSMagnetisation]
    names = ["autocorrelation_time_magnetisation", "ess_magnetisation"]
    for steps, known in ((2_048, True), (4_096, True), (4_100, False), (9_000, False)):
        found = measure(context(target, 1, 3), metrics, up_and_down(target, steps, 3)).result()
        assert [bool(found[name].isfinite().all()) for name in names] == [known, known], steps
    found = measure(
        context(target, 1, 3, series_steps=9_000), metrics, up_and_down(target, 9_000, 3)
    ).result()
    assert found["ess_magnetisation"] > 20_000
    assert found["autocorrelation_time_magnetisation"] < 1.0


def test_what_is_known_of_a_period_is_saved_and_merged() -> None:
    target = Ising(size=[2, 2], coupling=0.3)
    draws = up_and_down(target, 4_200, 3)
    suites = [measure(context(target, 1, 3), [ESSMagnetisation], draws)]
    resumed = measure(context(target, 1, 3), [ESSMagnetisation], draws[:5])
    resumed.load_state_dict(suites[0].state_dict())
    merged = measure(context(target, 1, 3), [ESSMagnetisation], draws[:20])
    merged.merge(measure(context(target, 1, 3), [ESSMagnetisation], draws[20:], first_step=21))
    for suite in (*suites, resumed, merged):
        assert suite.result()["ess_magnetisation"].isnan().all()


def test_modes_that_are_visited_in_turn_have_no_number() -> None:
    """By their indicators, as their numbers mean nothing."""
    target = corners()
    modes = len(target.modes)
    order = turning(modes, 0.995, 20_000, 3)
    draws = target.modes[order].unsqueeze(1)
    found = measure(context(target, 1, 3), [ESSMode], draws).result()["ess_mode"]
    assert bool(found.isnan().all()) is (modes in (2, 4, 8))
