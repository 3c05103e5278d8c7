"""How well single chains predict the training rows (EDLP, Table 3)."""

from __future__ import annotations

from torch import Tensor

from metrics.applications.prediction_errors import LOG_LIKELIHOOD, SQUARED, deviation, mean, prediction_errors
from metrics.metric import Context, Metric
from samplers.hyperparameters import count


class PredictiveLogLikelihood(Metric):
    """Mean over chains of what each predicts for the training rows, every few steps.

    EDLP's "average training log-likelihood" is in the released code minus the mean squared error of each
    network by itself, without its factor 100: no likelihood, and not that of the mean prediction. Here it
    has a name of its own beside a Bernoulli log-likelihood.

    Values, one per seed:
        predictive_log_likelihood: y log p + (1 - y) log(1 - p), mean over rows, chains and the evaluations
            in the second half of the steps, in nats; y may lie between 0 and 1.
        train_minus_mse: minus (p - y)^2, the same mean.
        train_minus_mse_all_steps: the same over all evaluations from the first step on: the released number.
        train_minus_mse_sd: standard deviation over all evaluations of the run, the released plus-minus.

    Args:
        every: steps between evaluations, at steps 1, 1 + every, ...; the released code has 5.

    Raises:
        UnmetNeed: if the target's states predict nothing.
    """

    name = "predictive_log_likelihood"
    unit = "nats a row"
    direction = "max"

    def __init__(self, context: Context, every: int = 5) -> None:
        super().__init__(context)
        every = count("metric.predictive_log_likelihood.every", every)
        self.errors = prediction_errors(self.name, context, "train", every)

    def result(self) -> dict[str, Tensor]:
        everything = self.errors.over(SQUARED, last_half=False).neg()
        return {
            self.name: mean(self.errors.over(LOG_LIKELIHOOD, last_half=True)),
            "train_minus_mse": mean(self.errors.over(SQUARED, last_half=True).neg()),
            "train_minus_mse_all_steps": mean(everything),
            "train_minus_mse_sd": deviation(everything),
        }
