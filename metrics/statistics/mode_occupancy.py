"""Mean responsibilities of the modes over the draws, and the mean of their entropies."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from metrics.metric import Context, Statistic, by_seed
from metrics.requirements import enumerable, require_modes
from metrics.statistics.sums import Sums
from metrics.statistics.visit_histogram import VisitHistogram
from samplers.kernel import Info
from targets.spaces import Discrete

TABLE_LIMIT = 2**16


class ModeOccupancy(Protocol):
    """Averages over all draws of a seed."""

    def mean(self) -> Tensor:
        """Mean responsibility of each mode, ``(seeds, modes)``, float64, summing to one."""
        ...

    def mean_entropy(self) -> Tensor:
        """Mean entropy of a draw's responsibilities, ``(seeds,)``, float64, in nats."""
        ...


def mode_occupancy(context: Context) -> ModeOccupancy:
    """The run's mode occupancy: from the visit histogram if states can be listed, else summed over draws."""
    if responsibility_table(context) is not None:
        return context.statistic(TabulatedOccupancy)
    return context.statistic(SummedOccupancy)


def responsibility_table(context: Context) -> Tensor | None:
    """Responsibilities of all states, ``(size, modes)``, float64; None if the states cannot be listed."""
    space = context.target.space
    if not enumerable(context.target) or not isinstance(space, Discrete) or space.size > TABLE_LIMIT:
        return None
    states = space.states(context.target.like().dtype).to(context.device)
    with torch.no_grad():
        table: Tensor = require_modes("mode occupancy", context).responsibilities(states).double()
    return table


def entropy(probabilities: Tensor) -> Tensor:
    """Entropy in nats over the last axis, with 0 log 0 = 0."""
    terms: Tensor = torch.special.entr(probabilities)
    return terms.sum(-1)


class TabulatedOccupancy(Statistic):
    """Mode occupancy of an enumerable target: a product with the visit histogram."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        table = responsibility_table(context)
        assert table is not None
        self.table, self.entropies = table, entropy(table)
        self.visits = context.statistic(VisitHistogram)

    def mean(self) -> Tensor:
        return by_seed(lambda row: row @ self.table, self.visits.frequencies())

    def mean_entropy(self) -> Tensor:
        return by_seed(lambda row: row @ self.entropies, self.visits.frequencies())


class SummedOccupancy(Sums):
    """Mode occupancy of any target with modes: responsibilities summed over steps, per chain."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.modes = require_modes("mode occupancy", context)
        batch = (context.seeds, context.chains)
        self.responsibility = self.zeros("responsibility", *batch, len(self.modes.modes))
        self.entropy = self.zeros("entropy", *batch)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        responsibilities = self.modes.responsibilities(theta).double()
        self.responsibility.add_(responsibilities)
        self.entropy.add_(entropy(responsibilities))
        self.steps += 1

    def mean(self) -> Tensor:
        return by_seed(lambda row: row.mean(0), self.responsibility / self.steps)

    def mean_entropy(self) -> Tensor:
        return by_seed(lambda row: row.mean(), self.entropy / self.steps)
