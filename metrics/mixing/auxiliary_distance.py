"""Distance of the auxiliary variable of an entropic sampler to the state (EDLP, appendix A, Figure 5)."""

from __future__ import annotations

import math

from torch import Tensor

from metrics.metric import Context, Metric, UnsupportedMetric, by_seed
from metrics.statistics.sums import Sums
from samplers.kernel import Info
from samplers.proposals.entropic_langevin import THETA_A


class DistanceSum(Sums):
    """|theta - theta_a| summed over steps, ``(seeds, chains)``, float64."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.distance = self.zeros("distance", context.seeds, context.chains)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        gap = (theta - info.aux[THETA_A]).flatten(self.distance.dim())
        self.distance.add_(gap.square().sum(-1).sqrt())
        self.steps += 1


class AuxiliaryDistance(Metric):
    """Mean Euclidean distance |theta - theta_a| over steps and chains.

    Under the joint distribution theta_a - theta is Gaussian with variance eta in each of the d coordinates,
    so the mean distance is close to sqrt(eta d); a value far from it shows that theta_a has not converged.

    Raises:
        UnsupportedMetric: if the kernel has no auxiliary variable.
    """

    name = "auxiliary_distance"
    unit = "state units"
    bounds = (0.0, math.inf)
    needs_draws = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        if THETA_A not in context.kernel.persistent_aux:
            raise UnsupportedMetric(f"{self.name} needs a sampler with an auxiliary variable, such as edmala")
        self.sums = context.statistic(DistanceSum)

    def result(self) -> dict[str, Tensor]:
        distance = self.sums.distance / self.sums.steps
        return {self.name: by_seed(lambda row: row.mean(), distance)}
