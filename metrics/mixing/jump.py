"""Jump distance: the mean distance that a chain moves in one step."""

from __future__ import annotations

from torch import Tensor

from metrics.metric import Context, Metric
from metrics.statistics.step_sums import StepSums


class Jump(Metric):
    """Mean number of coordinates that a step changes (on the reals its Euclidean length), 0 if rejected."""

    name = "jump"
    unit = "coordinates a step"
    direction = "max"
    supports_levels = True

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.steps = context.statistic(StepSums)

    def result(self) -> dict[str, Tensor]:
        return {self.name: self.steps.mean(self.steps.jump)}
