"""Acceptance rate of the draws' kernel; of the cold replica where there is a ladder."""

from __future__ import annotations

from torch import Tensor

from metrics.metric import Context, Metric
from metrics.statistics.step_sums import StepSums


class Acceptance(Metric):
    """Mean acceptance probability over steps and chains; 1 for kernels that reject nothing.

    A NaN in it is a proposal whose log density was NaN.
    """

    name = "acceptance"
    unit = "probability"
    direction = None
    heeds_level = True

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.steps = context.statistic(StepSums)

    def result(self) -> dict[str, Tensor]:
        return {self.name: self.steps.mean(self.steps.acceptance)}
