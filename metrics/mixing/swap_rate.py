"""Swap probabilities of neighbouring replicas."""

from __future__ import annotations

import torch
from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.requirements import require_replicas
from metrics.statistics.swap_sums import SwapSums


class SwapRate(Metric):
    """Swap rates.

    - `swap_rate`, `swap_rate_min`: mean and minimum over neighbouring pairs of the mean Metropolis swap
      probability, whatever the swap rule: it has less variance than the counts and characterises the ladder.
    - `swap_accepted`: the share of attempted swaps that were accepted; 0 if none was attempted.

    Raises:
        UnsupportedMetric: if the kernel has no replicas that swap.
    """

    name = "swap_rate"
    unit = "probability"
    direction = "max"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        require_replicas(self.name, context)
        self.swaps = context.statistic(SwapSums)

    def result(self) -> dict[str, Tensor]:
        pairs = self.swaps.probability_of_pairs()
        met, swapped = self.swaps.attempted.sum((1, 2)), self.swaps.accepted.sum((1, 2))
        return {
            "swap_rate": by_seed(torch.mean, pairs),
            "swap_rate_min": pairs.amin(-1),
            "swap_accepted": swapped.double() / met.clamp(min=1),
        }
