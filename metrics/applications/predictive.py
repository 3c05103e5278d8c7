"""Errors of the networks' predictions along the run (EDLP, Tables 2 and 3, Figure 5)."""

from __future__ import annotations

import math
from typing import ClassVar

from torch import Tensor

from metrics.applications.prediction_errors import (
    LOG_LIKELIHOOD,
    RMSE,
    SQUARED,
    deviation,
    mean,
    prediction_errors,
)
from metrics.metric import Context, Metric


class PredictiveRMSE(Metric):
    """RMSE on the test rows of the chains' mean prediction at one step, every few steps.

    Values, one per seed:
        predictive_rmse: mean over the evaluations in the second half of the steps; NaN without one.
        predictive_rmse_all_steps: mean over all evaluations; from the first step on, as in the paper, if
            there is no burn-in.
        predictive_rmse_sd: standard deviation over all evaluations of the run, the paper's plus-minus; it is
            not the variation between runs.

    Args:
        every: steps between evaluations, at steps 1, 1 + every, ...; 5 in the released code.

    Raises:
        UnsupportedMetric: if the target is not `targets.tabular.distinct_rows.Predictive`.
    """

    name = "predictive_rmse"
    unit = "outcome"
    bounds = (0.0, math.inf)
    direction = "min"
    needs_draws = False
    part: ClassVar[str] = "test"

    def __init__(self, context: Context, every: int = 5) -> None:
        super().__init__(context)
        self.errors = prediction_errors(self.name, context, self.part, every)

    def result(self) -> dict[str, Tensor]:
        everything = self.errors.over(RMSE, last_half=False)
        return {
            self.name: mean(self.errors.over(RMSE, last_half=True)),
            f"{self.name}_all_steps": mean(everything),
            f"{self.name}_sd": deviation(everything),
        }


class ValidationRMSE(PredictiveRMSE):
    """`PredictiveRMSE` on the validation rows; its values are `validation_rmse` and so on."""

    name = "validation_rmse"
    part = "validation"


class PredictiveLogLikelihood(Metric):
    """Fit of each chain's predictions to the training rows, averaged over chains, every few steps.

    In the released code EDLP's "average training log-likelihood" is minus the mean squared error of each
    network, without the factor 100 of U: it is not a likelihood, and not that of the mean prediction. It is
    reported as `train_minus_mse`, together with a Bernoulli log-likelihood.

    Values, one per seed:
        predictive_log_likelihood: mean of y log p + (1 - y) log(1 - p) over rows, chains and the evaluations
            in the second half of the steps, in nats; y is from 0 to 1.
        train_minus_mse: mean of -(p - y)^2 over the same.
        train_minus_mse_all_steps: the same over all evaluations; from the first step on, as in the paper, if
            there is no burn-in.
        train_minus_mse_sd: standard deviation over all evaluations of the run, the paper's plus-minus.

    Args:
        every: steps between evaluations, at steps 1, 1 + every, ...; 5 in the released code.

    Raises:
        UnsupportedMetric: if the target is not `targets.tabular.distinct_rows.Predictive`.
    """

    name = "predictive_log_likelihood"
    unit = "nats a row"
    direction = "max"
    needs_draws = False

    def __init__(self, context: Context, every: int = 5) -> None:
        super().__init__(context)
        self.errors = prediction_errors(self.name, context, "train", every)

    def result(self) -> dict[str, Tensor]:
        everything = self.errors.over(SQUARED, last_half=False).neg()
        return {
            self.name: mean(self.errors.over(LOG_LIKELIHOOD, last_half=True)),
            "train_minus_mse": mean(self.errors.over(SQUARED, last_half=True).neg()),
            "train_minus_mse_all_steps": mean(everything),
            "train_minus_mse_sd": deviation(everything),
        }
