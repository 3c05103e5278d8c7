"""Integrated autocorrelation times where they are known, and against sums written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from metrics import AutocorrelationTime, AutocorrelationTimeMagnetisation, ESSMagnetisation, RHatMagnetisation
from metrics.mixing.autocorrelation import autocorrelations, integrated_autocorrelation_time
from metrics.mixing.diagnostics import effective_sample_size, potential_scale_reduction
from metrics.statistics.order_parameter_series import OrderParameterSeries
from targets import Ising
from tests.metrics.mixing.test_diagnostics import autoregression
from tests.support.measuring import context, measure, random_draws, silent


def test_autocorrelations_are_the_means_of_all_products_at_a_lag() -> None:
    series = np.random.default_rng(0).normal(size=(3, 40)).cumsum(1)
    deviations = series - series.mean()
    products = [sum(d[t] * d[t + lag] for d in deviations for t in range(40 - lag)) for lag in range(40)]
    assert autocorrelations(series) == pytest.approx(np.array(products) / products[0], abs=1e-12)


def test_the_window_is_the_first_lag_of_five_times() -> None:
    series = autoregression(2, 4_000, 0.8)
    rho = autocorrelations(series)
    for window in range(4_000):
        time = 1.0 + 2.0 * sum(rho[1 : window + 1])
        if window >= 5.0 * time:
            break
    assert integrated_autocorrelation_time(series) == pytest.approx(
        (time, window, time * math.sqrt((4 * window + 2) / 8_000))
    )


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, -0.3])
def test_autoregressions_have_their_known_time(rho: float) -> None:
    """(1 + rho) / (1 - rho) within 5 of its standard errors: false alarm 6e-7."""
    time, _, error = integrated_autocorrelation_time(autoregression(10, 20_000, rho, seed=1))
    assert abs(time - (1 + rho) / (1 - rho)) < 5 * error < 0.25 * (1 + rho) / (1 - rho)


@pytest.mark.parametrize(("rho", "share"), [(-0.5, 0.1), (-0.6, 0.1), (-0.8, 0.2), (-0.9, 0.5)])
def test_a_series_that_goes_to_and_fro_has_its_known_time(rho: float, share: float) -> None:
    """Within 5 of the standard errors and within `share` of the truth; in 60 seeds 2.9 errors at most."""
    truth = (1 + rho) / (1 - rho)
    for seed in range(3):
        time, window, error = integrated_autocorrelation_time(autoregression(10, 20_000, rho, seed=seed))
        assert abs(time - truth) < min(5 * error, share * truth)
        assert error < share * truth
        assert window >= 5 * time


def test_a_negative_correlation_by_chance_leaves_the_window_of_sokal() -> None:
    series = autoregression(10, 4_000, 0.0, seed=3)
    rho = autocorrelations(series)
    assert -0.015 < rho[1] < 0
    times = 2 * rho.cumsum() - 1
    window = next(lag for lag in range(4_000) if lag >= 5 * times[lag] > 0)
    assert integrated_autocorrelation_time(series)[:2] == (times[window], window)


@pytest.mark.parametrize("draws", [6, 100, 10_000])
def test_perfect_alternation_has_no_time_that_can_be_told(draws: int) -> None:
    """Its true time is 0."""
    time, _, error = integrated_autocorrelation_time(np.resize([0.0, 1.0], (2, draws)))
    assert error == math.inf
    assert time == math.inf or time < 1


def test_chains_that_disagree_have_no_finite_error() -> None:
    apart = autoregression(2, 500) + np.array([[0.0], [50.0]])
    time, window, error = integrated_autocorrelation_time(apart)
    assert time > 99
    assert window <= 499
    assert error == math.inf
    for useless in (np.zeros((2, 50)), np.full((2, 50), np.nan)):
        assert integrated_autocorrelation_time(useless) == (math.inf, 50, math.inf)


@pytest.mark.parametrize("draws", [1, 2, 3])
def test_a_series_of_a_few_draws_has_no_time(draws: int) -> None:
    """The sum over all lags of one chain is zero but for rounding: no small time, which would be the best."""
    series = np.random.default_rng(1).normal(size=(1, draws))
    assert integrated_autocorrelation_time(series)[::2] == (math.inf, math.inf)


def test_a_time_below_the_kept_steps_has_no_finite_error() -> None:
    """Independent draws of which every fourth is kept look as if four were worth one."""
    target = Ising(size=[2, 2], coupling=0.3)
    for steps, stride in ((2_000, 1), (8_000, 4)):
        found = measure(
            context(target, 1, 3), [AutocorrelationTime], random_draws(target, steps, 1, 3)
        ).result()
        assert float(found["autocorrelation_time"]) == pytest.approx(stride, rel=0.3)
        assert math.isfinite(float(found["autocorrelation_time_error"])) is (stride == 1)


def alternating(target: Ising, steps: int, sides: Tensor) -> Tensor:
    """Draws ``(steps, seeds, chains, d)``: where `sides` is 1 all spins mostly turn, else at random."""
    random = torch.Generator().manual_seed(5)
    size = (steps, *sides.shape, 1)
    turned = torch.rand(size, generator=random) < 0.95
    up = (turned.cumsum(0) + torch.randint(2, size[1:], generator=random)) % 2
    loose = torch.randint(2, size, generator=random)
    return torch.where(sides.unsqueeze(-1) == 1, up, loose).expand(-1, -1, -1, target.space.d).double()


def test_chains_that_go_to_and_fro_between_the_kept_steps_have_no_number() -> None:
    """At even steps they look frozen; a seed of independent draws beside them keeps its numbers."""
    target = Ising(size=[2, 2], coupling=0.3)
    metrics = [AutocorrelationTimeMagnetisation, ESSMagnetisation]
    names = ["autocorrelation_time_magnetisation", "ess_magnetisation"]
    sides = torch.tensor([[1, 1, 1], [0, 0, 0]])
    for steps, known in ((2_048, True), (2_049, False), (9_000, False)):
        found = measure(context(target, 2, 3), metrics, alternating(target, steps, sides)).result()
        for name in names:
            assert found[name].isfinite().tolist() == [known, True]
    found = measure(
        context(target, 2, 3, series_steps=9_000), metrics, alternating(target, 9_000, sides)
    ).result()
    assert found["ess_magnetisation"][0] > 100_000
    assert found["autocorrelation_time_magnetisation"][0] < 0.1


def test_what_is_known_of_chains_that_go_to_and_fro_is_saved() -> None:
    target = Ising(size=[2, 2], coupling=0.3)
    draws = alternating(target, 2_100, torch.ones(1, 3))
    suites = [measure(context(target, 1, 3), [ESSMagnetisation], draws) for _ in range(2)]
    resumed = measure(context(target, 1, 3), [ESSMagnetisation], draws[:5])
    resumed.load_state_dict(suites[0].state_dict())
    merged = measure(context(target, 1, 3), [ESSMagnetisation], draws[:20])
    merged.merge(measure(context(target, 1, 3), [ESSMagnetisation], draws[20:], first_step=21))
    for suite in (*suites, resumed, merged):
        assert suite.result()["ess_magnetisation"].isnan().all()


def test_series_saved_before_the_correlation_was_are_read_while_no_step_was_left_out() -> None:
    target = Ising(size=[2, 2], coupling=0.3)
    for steps in (100, 2_100):
        series = context(target, 1, 3).statistic(OrderParameterSeries)
        for step, theta in enumerate(alternating(target, steps, torch.ones(1, 3)), start=1):
            series.update(step, theta, silent(1, 3))
        state = series.state_dict()
        del state["successive"]
        if steps == 100:
            series.load_state_dict(state)
            assert len(series.steps) == 100
        else:
            with pytest.raises(ValueError, match="saved without the correlation of successive values"):
                series.load_state_dict(state)


def test_the_metrics_read_the_energy_and_the_magnetisation() -> None:
    target = Ising(size=[2, 3], coupling=0.3)
    draws = random_draws(target, 300, seeds=2, chains=4)
    for metric, of in (
        (AutocorrelationTime, target.log_prob),
        (AutocorrelationTimeMagnetisation, target.magnetisation),
    ):
        found = measure(context(target, 2, 4), [metric], draws).result()
        for seed in range(2):
            series = of(draws[:, seed]).T.numpy()
            time, window, error = integrated_autocorrelation_time(series)
            assert float(found[metric.name][seed]) == pytest.approx(time)
            assert float(found[f"{metric.name}_error"][seed]) == pytest.approx(error)
            assert float(found[metric.name.replace("_time", "_window")][seed]) == window
    found = measure(context(target, 2, 4), [ESSMagnetisation, RHatMagnetisation], draws).result()
    for seed in range(2):
        series = target.magnetisation(draws[:, seed]).T.numpy()
        assert float(found["ess_magnetisation"][seed]) == pytest.approx(effective_sample_size(series))
        assert float(found["rhat_magnetisation"][seed]) == pytest.approx(potential_scale_reduction(series))
