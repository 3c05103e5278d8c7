"""Sums over swap rounds of swap probabilities, attempts and swaps, per neighbouring pair and chain."""

from __future__ import annotations

import torch
from torch import Tensor

from metrics.metric import Context, by_seed
from metrics.requirements import require_replicas
from metrics.statistics.sums import Sums
from samplers.kernel import Info


class SwapSums(Sums):
    """Sums of swap probabilities (float64), attempted and accepted swaps (int64): ``(seeds, pairs, chains)``.

    `steps` counts the swap rounds; steps without swaps are ignored.

    Raises:
        UnsupportedMetric: if the kernel has no replicas that swap.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        shape = (context.seeds, require_replicas("swap statistics", context) - 1, context.chains)
        self.probability = self.zeros("probability", *shape)
        self.attempted = self.zeros("attempted", *shape, dtype=torch.int64)
        self.accepted = self.zeros("accepted", *shape, dtype=torch.int64)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        if info.swap is None:
            return
        self.probability.add_(info.swap.probability.movedim(1, 0))
        self.attempted.add_(info.swap.attempted.movedim(1, 0))
        self.accepted.add_((info.swap.attempted & info.swap.accepted).movedim(1, 0))
        self.steps += 1

    def probability_of_pairs(self) -> Tensor:
        """Mean Metropolis swap probability of each pair over all rounds, ``(seeds, pairs)``."""
        return by_seed(lambda row: row.mean(-1), self.probability / self.steps)
