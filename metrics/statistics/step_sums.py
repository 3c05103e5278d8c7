"""Sums over steps of the acceptance probability and the jump distance, per chain."""

from __future__ import annotations

from torch import Tensor

from metrics.metric import Context, by_seed
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

    def mean(self, total: Tensor) -> Tensor:
        """Mean over steps and chains of one of the sums, ``(seeds,)``."""
        return by_seed(lambda row: row.mean(), total / self.steps)
