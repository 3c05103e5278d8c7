"""Communication barrier of a ladder, Lambda = sum over neighbouring pairs of the mean rejection probability.

Syed et al. 2022; PT-DLP v2, section 4.3. Computed from the Metropolis swap probabilities, whatever the swap
rule, as the theory requires (settings I, row 14), and averaged over all rounds.
"""

from __future__ import annotations

from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.requirements import require_replicas
from metrics.statistics.swap_sums import SwapSums


class Barrier(Metric):
    """Lambda, between 0 and the number of pairs; the larger it is, the rarer are round trips.

    Raises:
        UnsupportedMetric: if the kernel has no replicas that swap.
    """

    name = "barrier"
    unit = "rejections"
    direction = None

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        require_replicas(self.name, context)
        self.swaps = context.statistic(SwapSums)

    def result(self) -> dict[str, Tensor]:
        return {self.name: by_seed(lambda row: (1 - row).sum(), self.swaps.probability_of_pairs())}
