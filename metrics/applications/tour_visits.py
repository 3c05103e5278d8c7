"""Visit counts of the tours of a few cities, and the requirement that a target's states are tours."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from metrics.metric import Context, UnsupportedMetric
from metrics.statistics.sums import Sums
from metrics.statistics.visit_histogram import VisitHistogram
from samplers.kernel import Info
from targets.tours.tour_space import HasTours, Tours


def require_tours(metric: str, context: Context) -> HasTours:
    """The target, whose states must be tours.

    Raises:
        UnsupportedMetric: if they are not.
    """
    target = context.target
    if any(getattr(target, name, None) is None for name in ("cities", "scale", "tour", "cost", "optimum")):
        raise UnsupportedMetric(
            f"{metric} needs a target whose states are tours; those of {type(target).__name__} are not"
        )
    return cast(HasTours, target)


class TourVisits(VisitHistogram):
    """Counts of visits to each tour in lexicographic order, ``(seeds, n!)``, int64; rotations are distinct.

    The index of a draw is its rank among the permutations, computed on the device. At most 8 cities are
    supported, which have 40,320 tours.

    Attributes:
        tours: the tours, ``(n!, n)``, int64.
        costs: the length of each, ``(n!,)``, float64.

    Raises:
        ValueError: for more than 8 cities.
    """

    def __init__(self, context: Context) -> None:
        # Indexed by permutations, not by the states of the target's space, most of which are not tours.
        Sums.__init__(self, context)
        self.target = require_tours("tour_visits", context)
        self.space = Tours(self.target.cities, self.target.cities)
        self.tours = self.space.states().long().to(context.device)
        self.costs = self.target.cost(self.tours)
        self.counts = self.zeros("counts", context.seeds, self.space.size, dtype=torch.int64)
        self._first_cell = torch.arange(context.seeds, device=context.device).unsqueeze(-1) * self.space.size
        self._one = torch.ones(1, dtype=torch.int64, device=context.device)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        super().update(step, self.target.tour(theta), info)
