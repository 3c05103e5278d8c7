"""How often each tour of a few cities was visited, and what is needed of a target for that."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from metrics.metric import Context, UnmetNeed
from metrics.statistics.sums import Sums
from metrics.statistics.visit_histogram import VisitHistogram
from samplers.kernel import Info
from targets.tours.tour_space import HasTours, Tours


def need_tours(metric: str, context: Context) -> HasTours:
    """The target as one whose states are tours.

    Raises:
        UnmetNeed: if they are not.
    """
    target = context.target
    if any(getattr(target, name, None) is None for name in ("cities", "scale", "tour", "cost", "optimum")):
        raise UnmetNeed(
            f"{metric} needs a target whose states are tours; those of {type(target).__name__} are none"
        )
    return cast(HasTours, target)


class TourVisits(VisitHistogram):
    """Counts of visits to each tour in lexicographic order, ``(seeds, n!)``, int64; rotations apart.

    A draw finds its place by its rank among the permutations, on the device. 8 cities have 40,320 tours,
    which is little enough to keep of every run; with more cities there is no such table.

    Attributes:
        tours: the tours, ``(n!, n)``, int64.
        costs: the length of each, ``(n!,)``, float64.

    Raises:
        ValueError: for more than 8 cities.
    """

    def __init__(self, context: Context) -> None:
        # Not the space of the states, most of which are no tours.
        Sums.__init__(self, context)
        self.target = need_tours("tour_visits", context)
        self.space = Tours(self.target.cities, self.target.cities)
        self.tours = self.space.states().long().to(context.device)
        self.costs = self.target.cost(self.tours)
        self.counts = self.zeros("counts", context.seeds, self.space.size, dtype=torch.int64)
        self._first_cell = torch.arange(context.seeds, device=context.device).unsqueeze(-1) * self.space.size
        self._one = torch.ones(1, dtype=torch.int64, device=context.device)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        super().update(step, self.target.tour(theta), info)
