"""Level occupancy: how evenly the chains of simulated tempering visit their temperatures."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metrics.metric import Context, Metric, UnsupportedMetric, by_seed
from metrics.statistics.sums import Sums
from samplers.kernel import Info

UNEVEN = math.exp(2)
"""STMH, Lemma 22: a level's share of time may differ from an even one by this factor, up or down."""


class LevelVisits(Sums):
    """How many steps ended at each level, 0 the cold one, ``(seeds, levels)``, int64."""

    def __init__(self, context: Context, levels: int) -> None:
        super().__init__(context)
        self.levels = levels
        self.visits = self.zeros("visits", context.seeds, levels, dtype=torch.int64)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        assert info.level is not None
        self.visits.scatter_add_(1, info.level, torch.ones_like(info.level))
        self.steps += 1


class LevelOccupancy(Metric):
    """Shares of time that chains spend at each of L temperatures: ``1 / L`` each with the exact log Z_i.

    - `level_occupancy`: the smallest share over the largest, from 0 to 1; the r of STMH, Lemma 22, which is
      at least e^-4 if the estimated partition functions satisfy (C.28).
    - `level_occupancy_uneven`: 1 if a share differs from ``1 / L`` by more than a factor e^2, which the lemma
      excludes in the long run, and 0 otherwise. It is often 1 for runs that traverse the ladder only once.
    - `level_0`, `level_1`, ..: the shares, starting with the cold level.

    Raises:
        UnsupportedMetric: if the kernel's chains do not move between temperatures.
    """

    name = "level_occupancy"
    unit = "ratio"
    bounds = (0.0, 1.0)
    direction = "max"
    supports_levels = True

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        levels = getattr(context.kernel, "levels", None)
        if not context.kernel.has_levels or not isinstance(levels, int):
            raise UnsupportedMetric(
                f"{self.name} needs a kernel whose chains move between temperatures; those of "
                f"{type(context.kernel).__name__} do not"
            )
        self.visited = context.statistic(LevelVisits, levels=levels)

    def result(self) -> dict[str, Tensor]:
        levels = self.visited.levels
        shares = self.visited.visits.double() / (self.visited.steps * self.context.chains)
        least = by_seed(lambda row: row.min(), shares)
        most = by_seed(lambda row: row.max(), shares)
        uneven = (levels * least < 1 / UNEVEN) | (levels * most > UNEVEN)
        by_level = {f"level_{level}": shares[:, level] for level in range(levels)}
        return {self.name: least / most, f"{self.name}_uneven": uneven.double(), **by_level}
