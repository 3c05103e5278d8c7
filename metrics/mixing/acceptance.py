"""Acceptance rate of the kernel; with a ladder, that of the cold replica."""

from __future__ import annotations

from torch import Tensor

from metrics.metric import Context, Metric
from metrics.statistics.step_sums import StepSums


class Acceptance(Metric):
    """Mean acceptance probability over steps and chains; 1 for kernels that reject nothing.

    NaN if the log density of a proposal was NaN.
    """

    name = "acceptance"
    unit = "probability"
    direction = None
    supports_levels = True

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.steps = context.statistic(StepSums)

    def result(self) -> dict[str, Tensor]:
        return {self.name: self.steps.mean(self.steps.acceptance)}
