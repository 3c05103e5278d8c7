"""Root mean squared error of the mean prediction of all chains (EDLP, Table 2 and Figure 5)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from metrics.applications.prediction_errors import RMSE, deviation, mean, prediction_errors
from metrics.metric import Context, Metric
from samplers.hyperparameters import count


class PredictiveRMSE(Metric):
    """RMSE on the test rows of the chains' mean prediction at one step, every few steps.

    Values, one per seed:
        predictive_rmse: mean over the evaluations in the second half of the steps.
        predictive_rmse_all_steps: mean over all evaluations from the first step on, as in the paper.
        predictive_rmse_sd: standard deviation over all evaluations of the run, the paper's plus-minus; it is
            not the variation between runs.

    Args:
        every: steps between evaluations, at steps 1, 1 + every, ...; 5 in the released code.

    Raises:
        UnsupportedMetric: if the target is not `targets.distinct_rows.Predictive`.
    """

    name = "predictive_rmse"
    unit = "outcome"
    direction = "min"
    part: ClassVar[str] = "test"

    def __init__(self, context: Context, every: int = 5) -> None:
        super().__init__(context)
        every = count(f"metric.{self.name}.every", every)
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
