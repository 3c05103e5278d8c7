"""Swaps of neighbouring replicas: their rates, and the communication barrier of the ladder."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.requirements import require_replicas
from metrics.statistics.sums import Sums
from samplers.kernel import Info


class SwapSums(Sums):
    """Sums of swap probabilities (float64), attempted and accepted swaps (int64): ``(seeds, pairs, chains)``.

    And of the acceptance probabilities of the moves on each rung, ``(seeds, rungs, chains)``, NaN where the
    kernel does not tell them. `steps` counts the swap rounds; steps without swaps are ignored.

    Raises:
        UnsupportedMetric: if the kernel has no replicas that swap.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        rungs = require_replicas("swap statistics", context)
        shape = (context.seeds, rungs - 1, context.chains)
        self.probability = self.zeros("probability", *shape)
        self.attempted = self.zeros("attempted", *shape, dtype=torch.int64)
        self.accepted = self.zeros("accepted", *shape, dtype=torch.int64)
        self.moves = self.zeros("moves", context.seeds, rungs, context.chains)
        # As a step has them, ``(rungs, seeds, chains)``: views, made once.
        self._by_rung = [sums.movedim(0, 1) for sums in self.sums.values()]

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        if info.swap is None:
            return
        probability, attempted, accepted, moves = self._by_rung
        probability.add_(info.swap.probability)
        attempted.add_(info.swap.attempted)
        accepted.add_(info.swap.attempted & info.swap.accepted)
        moves.add_(math.nan if info.rungs is None else info.rungs)
        self.steps += 1

    def probability_of_pairs(self) -> Tensor:
        """Mean Metropolis swap probability of each pair over all rounds, ``(seeds, pairs)``."""
        return by_seed(lambda row: row.mean(-1), self.probability / self.steps)

    def acceptance_of_rungs(self) -> Tensor:
        """Mean acceptance probability of the moves on each rung over all rounds, ``(seeds, rungs)``."""
        return by_seed(lambda row: row.mean(-1), self.moves / self.steps)


class _SwapMetric(Metric):
    """A metric of the swaps of neighbouring replicas."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        require_replicas(self.name, context)
        self.swaps = context.statistic(SwapSums)


class SwapRate(_SwapMetric):
    """Mean Metropolis swap probability over neighbouring pairs, and the share of accepted swaps.

    - `swap_rate`, `swap_rate_min`: mean and minimum over neighbouring pairs of the mean Metropolis swap
      probability, whatever the swap rule: it has less variance than the counts and characterises the ladder.
    - `swap_accepted`: the share of attempted swaps that were accepted; 0 if none was attempted.

    Raises:
        UnsupportedMetric: if the kernel has no replicas that swap.
    """

    name = "swap_rate"
    unit = "probability"
    bounds = (0.0, 1.0)
    direction = "max"

    def result(self) -> dict[str, Tensor]:
        pairs = self.swaps.probability_of_pairs()
        met, swapped = self.swaps.attempted.sum((1, 2)), self.swaps.accepted.sum((1, 2))
        return {
            "swap_rate": by_seed(torch.mean, pairs),
            "swap_rate_min": pairs.amin(-1),
            "swap_accepted": swapped.double() / met.clamp(min=1),
        }


class Barrier(_SwapMetric):
    """Communication barrier Lambda: the sum over neighbouring pairs of the mean rejection probability.

    Between 0 and the number of pairs; the larger it is, the rarer are round trips (Syed et al. 2022; PT-DLP
    v2, section 4.3). Computed from the Metropolis swap probabilities, whatever the swap rule, as the theory
    requires (settings I, row 14), and averaged over all rounds.

    Raises:
        UnsupportedMetric: if the kernel has no replicas that swap.
    """

    name = "barrier"
    unit = "rejections"
    bounds = (0.0, math.inf)

    def result(self) -> dict[str, Tensor]:
        return {self.name: by_seed(lambda row: (1 - row).sum(), self.swaps.probability_of_pairs())}


def rates_by_rung(context: Context, place: int) -> dict[str, list[float]] | None:
    """What a run did on its ladder, the cold rung first; None where no metric looks at its swaps.

    `place` is that of the run in its batch. `acceptance` is that of the moves on each rung, left out where
    the kernel does not tell it; `swap_rate` that of each rung with the next.
    """
    for statistic in context.statistics.values():
        if isinstance(statistic, SwapSums) and statistic.steps:
            means = {
                "acceptance": statistic.acceptance_of_rungs()[place],
                "swap_rate": statistic.probability_of_pairs()[place],
            }
            return {name: mean.tolist() for name, mean in means.items() if bool(mean.isfinite().all())}
    return None
