"""Means over the steps of the acceptance probability and of the jump distance."""

from __future__ import annotations

import math

from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.statistics.sums import Sums
from samplers.kernel import Info


class StepSums(Sums):
    """`Info.acceptance` and `Info.jump` summed over steps, each ``(seeds, chains)``, float64."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.acceptance = self.zeros("acceptance", context.seeds, context.chains)
        self.jump = self.zeros("jump", context.seeds, context.chains)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        self.acceptance.add_(info.acceptance)
        self.jump.add_(info.jump)
        self.steps += 1


class _StepMean(Metric):
    """The mean over steps and chains of the sum that has the metric's name."""

    supports_levels = True
    needs_draws = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.steps = context.statistic(StepSums)

    def result(self) -> dict[str, Tensor]:
        return {self.name: by_seed(lambda row: row.mean(), self.steps.sums[self.name] / self.steps.steps)}


class Acceptance(_StepMean):
    """Mean acceptance probability over steps and chains; 1 for kernels that reject nothing.

    With a ladder, that of the cold replica. NaN if the log density of a proposal was NaN.
    """

    name = "acceptance"
    unit = "probability"
    bounds = (0.0, 1.0)


class Jump(_StepMean):
    """Mean number of coordinates that a step changes (on the reals its Euclidean length), 0 if rejected."""

    name = "jump"
    unit = "coordinates a step"
    bounds = (0.0, math.inf)
    direction = "max"
