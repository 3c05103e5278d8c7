"""RMSE and log-likelihood of predictions against plain loops; window, thinning, saving, merging, needs."""

from __future__ import annotations

import io
import math
from functools import partial

import pytest
import torch
from torch import Tensor

from metrics.applications import prediction_errors
from metrics.applications.prediction_errors import RMSE, PredictionErrors
from metrics.applications.predictive import PredictiveLogLikelihood, PredictiveRMSE, ValidationRMSE
from metrics.metric import Context, UnsupportedMetric
from targets.models.binary_bnn import BinaryBNN
from targets.tabular.tabular_data import Part
from tests.support.measuring import context, measure, random_draws, silent
from tests.support.no_host_sync import NoHostSync
from tests.support.small_tables import made_up, predicted
from tests.support.targets import Bare

SEEDS, CHAINS, STEPS, EVERY, HIDDEN = 2, 3, 23, 4, 3
EVALUATED = range(1, STEPS + 1, EVERY)
LATE = [step for step in EVALUATED if step > 21 / 2]
METRICS = [
    partial(PredictiveRMSE, every=EVERY),
    partial(ValidationRMSE, every=EVERY),
    partial(PredictiveLogLikelihood, every=EVERY),
]
DATA = made_up(distinct=15)


def target() -> BinaryBNN:
    return BinaryBNN(DATA, HIDDEN)


def draws(steps: int = STEPS) -> Tensor:
    return random_draws(target(), steps, SEEDS, CHAINS)


def together(theta: Tensor, part: Part) -> float:
    """RMSE of the mean prediction of the chains ``(chains, d)``, row by row."""
    each = [predicted(chain, part.inputs, HIDDEN).tolist() for chain in theta]
    total = 0.0
    for row, outcome in enumerate(part.outcome.tolist()):
        total += (sum(chain[row] for chain in each) / len(each) - outcome) ** 2
    return math.sqrt(total / len(part))


def alone(theta: Tensor, part: Part) -> tuple[float, float]:
    """Minus the mean squared error, and the Bernoulli log-likelihood, of single chains."""
    squared = likelihood = 0.0
    for chain in theta:
        for p, y in zip(predicted(chain, part.inputs, HIDDEN).tolist(), part.outcome.tolist(), strict=True):
            squared += (p - y) ** 2 / (len(part) * len(theta))
            likelihood += (y * math.log(p) + (1 - y) * math.log(1 - p)) / (len(part) * len(theta))
    return -squared, likelihood


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def sd(values: list[float]) -> float:
    return math.sqrt(mean([(value - mean(values)) ** 2 for value in values]))


def test_values_equal_plain_loops() -> None:
    theta = draws()
    result = measure(context(target(), SEEDS, CHAINS), METRICS, theta).result()
    for seed in range(SEEDS):
        for name, part in (("predictive_rmse", DATA.test), ("validation_rmse", DATA.validation)):
            series = {step: together(theta[step - 1, seed], part) for step in EVALUATED}
            assert result[name][seed].item() == pytest.approx(
                mean([series[step] for step in LATE]), abs=1e-12
            )
            everything = list(series.values())
            assert result[f"{name}_all_steps"][seed].item() == pytest.approx(mean(everything), abs=1e-12)
            assert result[f"{name}_sd"][seed].item() == pytest.approx(sd(everything), abs=1e-12)
        pairs = {step: alone(theta[step - 1, seed], DATA.train) for step in EVALUATED}
        squared = [pair[0] for pair in pairs.values()]
        expected = {
            "train_minus_mse": mean([pairs[step][0] for step in LATE]),
            "train_minus_mse_all_steps": mean(squared),
            "train_minus_mse_sd": sd(squared),
            "predictive_log_likelihood": mean([pairs[step][1] for step in LATE]),
        }
        for name, value in expected.items():
            assert result[name][seed].item() == pytest.approx(value, abs=1e-12)


def test_the_log_prob_of_the_target_is_100_times_the_mean_squared_error() -> None:
    theta = draws(1)
    result = measure(context(target(), SEEDS, CHAINS), [PredictiveLogLikelihood], theta).result()
    expected = target().log_prob(theta[0]).mean(-1) / 100.0
    torch.testing.assert_close(result["train_minus_mse"], expected, atol=1e-13, rtol=0)


def test_at_the_released_length_201_points_are_averaged_from_the_first_step_on() -> None:
    errors = PredictionErrors(context(target(), 1, 1), "test", 5)
    theta = draws(1)[0, :1, :1]
    for step in range(1, 1002):
        errors.update(step, theta, silent(1, 1))
    assert errors.steps == list(range(1, 1002, 5))
    assert len(errors.over(RMSE, last_half=False)) == 201
    assert len(errors.over(RMSE, last_half=True)) == 101


def test_memory_does_not_grow_and_thinned_values_are_those_of_a_longer_stride(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theta = draws(40)
    coarse = PredictionErrors(context(target(), SEEDS, CHAINS), "test", 8)
    monkeypatch.setattr(prediction_errors, "MOST", 6)
    fine = PredictionErrors(context(target(), SEEDS, CHAINS), "test", 2)
    for step in range(1, 41):
        for each in (coarse, fine):
            each.update(step, theta[step - 1], silent(SEEDS, CHAINS))
    assert fine.stride == 8
    assert fine.steps == coarse.steps == [1, 9, 17, 25, 33]
    for half in (False, True):
        assert torch.equal(fine.over(RMSE, last_half=half), coarse.over(RMSE, last_half=half))


@pytest.mark.parametrize("cut", [1, 9, 22])
def test_saved_and_merged_runs_equal_whole_ones(cut: int) -> None:
    theta = draws()

    def run() -> Context:
        return context(target(), SEEDS, CHAINS)

    whole = measure(run(), METRICS, theta)
    begun = measure(run(), METRICS, theta[:cut])
    file = io.BytesIO()
    torch.save(begun.state_dict(), file)
    file.seek(0)
    resumed = measure(run(), METRICS, theta[:0])
    resumed.load_state_dict(torch.load(file, weights_only=True))
    for place in range(cut, STEPS):
        resumed.update(place + 1, theta[place], silent(SEEDS, CHAINS))
    begun.merge(measure(run(), METRICS, theta[cut:], first_step=cut + 1))
    for name, value in whole.result().items():
        assert torch.equal(resumed.result()[name], value)
        assert torch.equal(begun.result()[name], value)


def test_a_seed_is_measured_as_it_is_alone() -> None:
    theta = draws()
    together_ = measure(context(target(), SEEDS, CHAINS), METRICS, theta).result()
    apart = measure(context(target(), 1, CHAINS), METRICS, theta[:, 1:]).result()
    for name, value in together_.items():
        assert torch.equal(value[1:], apart[name])


def test_an_evaluation_does_not_ask_the_host_for_a_value() -> None:
    suite = measure(context(target(), SEEDS, CHAINS), METRICS, draws(2))
    theta = draws(8)
    with NoHostSync():
        for step in range(3, 9):
            suite.update(step, theta[step - 1], silent(SEEDS, CHAINS))


def test_other_targets_and_settings_are_refused() -> None:
    for metric in METRICS:
        with pytest.raises(
            UnsupportedMetric, match="needs a target that predicts the rows of a table; Bare does not"
        ):
            metric(context(Bare()))
    with pytest.raises(ValueError, match="every must be a whole number of at least 1, 0 was given"):
        PredictiveRMSE(context(target()), every=0)
