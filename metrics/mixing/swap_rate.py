"""How readily neighbouring replicas swap."""

from __future__ import annotations

import torch
from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.requirements import need_replicas
from metrics.statistics.swap_sums import SwapSums


class SwapRate(Metric):
    """Mean swap probability.

    `swap_rate` and `swap_rate_min` are the mean and the least over neighbouring pairs of the mean Metropolis
    probability, whatever rule is in force: it varies less than counts of swaps do, and tells of the ladder.
    `swap_accepted` is the share of all meetings that ended in a swap, 0 if none met.
    """

    name = "swap_rate"
    unit = "probability"
    direction = "max"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        need_replicas(self.name, context)
        self.swaps = context.statistic(SwapSums)

    def result(self) -> dict[str, Tensor]:
        pairs = self.swaps.probability_of_pairs()
        met, swapped = self.swaps.attempted.sum((1, 2)), self.swaps.accepted.sum((1, 2))
        return {
            "swap_rate": by_seed(torch.mean, pairs),
            "swap_rate_min": pairs.amin(-1),
            "swap_accepted": swapped.double() / met.clamp(min=1),
        }
