"""RMSE and log-likelihood of predictions against plain loops over evaluations, chains and rows."""

from __future__ import annotations

import math
import statistics
from functools import partial

import pytest
import torch
from torch import Tensor

from metrics.applications import prediction_errors
from metrics.applications.prediction_errors import RMSE, PredictionErrors
from metrics.applications.predictive import PredictiveLogLikelihood, PredictiveRMSE, ValidationRMSE
from targets.models.binary_bnn import BinaryBNN
from targets.tabular.tabular_data import Part
from tests.support.measuring import context, measure, random_draws, silent
from tests.support.targets.small_tables import made_up, predicted

SEEDS, CHAINS, STEPS, EVERY, HIDDEN = 2, 3, 23, 4, 3
EVALUATED = range(1, STEPS + 1, EVERY)
LATE = [step for step in EVALUATED if step > STEPS / 2]
METRICS = [
    partial(metric, every=EVERY) for metric in (PredictiveRMSE, ValidationRMSE, PredictiveLogLikelihood)
]
DATA = made_up(distinct=15)
TARGET = BinaryBNN(DATA, HIDDEN)


def together(theta: Tensor, part: Part) -> float:
    """RMSE of the mean prediction of the chains ``(chains, d)``, row by row."""
    each = [predicted(one, part.inputs, HIDDEN).tolist() for one in theta]
    rows = zip(*each, part.outcome.tolist(), strict=True)
    return math.sqrt(statistics.fmean((statistics.fmean(chains) - y) ** 2 for *chains, y in rows))


def alone(theta: Tensor, part: Part) -> tuple[float, float]:
    """Minus the mean squared error, and the Bernoulli log-likelihood, of single chains."""
    each, outcome = [predicted(one, part.inputs, HIDDEN).tolist() for one in theta], part.outcome.tolist()
    pairs = [pair for one in each for pair in zip(one, outcome, strict=True)]
    likelihood = statistics.fmean(y * math.log(p) + (1 - y) * math.log(1 - p) for p, y in pairs)
    return -statistics.fmean((p - y) ** 2 for p, y in pairs), likelihood


def test_values_equal_plain_loops() -> None:
    theta, mean = random_draws(TARGET, STEPS, SEEDS, CHAINS), statistics.fmean
    result = measure(context(TARGET, SEEDS, CHAINS), METRICS, theta).result()
    for seed in range(SEEDS):
        expected = {}
        for name, part in (("predictive_rmse", DATA.test), ("validation_rmse", DATA.validation)):
            series = {step: together(theta[step - 1, seed], part) for step in EVALUATED}
            expected[name] = mean(series[step] for step in LATE)
            expected[f"{name}_all_steps"] = mean(series.values())
            expected[f"{name}_sd"] = statistics.pstdev(series.values())
        pairs = {step: alone(theta[step - 1, seed], DATA.train) for step in EVALUATED}
        squared = [pair[0] for pair in pairs.values()]
        expected |= {
            "train_minus_mse": mean(pairs[step][0] for step in LATE),
            "train_minus_mse_all_steps": mean(squared),
            "train_minus_mse_sd": statistics.pstdev(squared),
            "predictive_log_likelihood": mean(pairs[step][1] for step in LATE),
        }
        assert {key: value[seed].item() for key, value in result.items()} == pytest.approx(
            expected, abs=1e-12
        )


def test_at_the_released_length_201_points_are_averaged_from_the_first_step_on() -> None:
    errors = PredictionErrors(context(TARGET, 1, 1), "test", 5)
    theta = random_draws(TARGET, 1, 1, 1)[0]
    for step in range(1, 1002):
        errors.update(step, theta, silent(1, 1))
    assert errors.steps == list(range(1, 1002, 5))
    assert len(errors.over(RMSE, last_half=False)) == 201
    assert len(errors.over(RMSE, last_half=True)) == 101


def test_thinned_values_are_those_of_a_longer_stride(monkeypatch: pytest.MonkeyPatch) -> None:
    theta = random_draws(TARGET, 40, SEEDS, CHAINS)
    coarse = PredictionErrors(context(TARGET, SEEDS, CHAINS), "test", 8)
    monkeypatch.setattr(prediction_errors, "MOST", 6)
    fine = PredictionErrors(context(TARGET, SEEDS, CHAINS), "test", 2)
    for step in range(1, 41):
        for each in (coarse, fine):
            each.update(step, theta[step - 1], silent(SEEDS, CHAINS))
    assert fine.stride == 8
    assert fine.steps == coarse.steps == [1, 9, 17, 25, 33]
    for half in (False, True):
        assert torch.equal(fine.over(RMSE, last_half=half), coarse.over(RMSE, last_half=half))


@pytest.mark.filterwarnings("error")
def test_the_second_half_is_that_of_the_steps_not_of_the_evaluations() -> None:
    late = ("predictive_rmse", "validation_rmse", "predictive_log_likelihood", "train_minus_mse")
    theta = random_draws(TARGET, 60, SEEDS, CHAINS)
    seldom = [partial(metric.func, every=100) for metric in METRICS]
    result = measure(context(TARGET, SEEDS, CHAINS), seldom, theta).result()
    for name in late:
        assert result[name].isnan().all()
    assert result["predictive_rmse_all_steps"].isfinite().all()


@pytest.mark.filterwarnings("error")
def test_without_an_evaluation_values_are_nan_and_torch_does_not_warn() -> None:
    for metric in METRICS:  # such as after a burn-in, before the first of the steps 1, 1 + every, ...
        result = metric(context(TARGET, SEEDS, CHAINS)).result()
        assert all(value.shape == (SEEDS,) and value.isnan().all() for value in result.values())


def test_a_half_that_was_saved_goes_on() -> None:
    theta, ran = random_draws(TARGET, 1, SEEDS, CHAINS)[0], silent(SEEDS, CHAINS)
    whole, before, after = (PredictionErrors(context(TARGET, SEEDS, CHAINS), "test", 20) for _ in range(3))
    for step in range(1, 43):
        for each in (whole, before):
            each.update(step, theta, ran)
    after.load_state_dict(before.state_dict())
    whole.update(43, theta, ran)
    assert (whole.steps, whole.last, after.last) == ([1, 21, 41], 43, 42)
    assert len(after.over(RMSE, last_half=True)) == len(whole.over(RMSE, last_half=True)) == 1
    after.merge(whole)
    assert after.last == 43
