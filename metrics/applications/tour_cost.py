"""Cost of the visited tours: of all draws, of the distinct tours, and of the best one (EDLP, Figure 3)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metrics.applications.tour_statistics import TourMetric, TourVisits
from metrics.metric import by_seed


class TourCost(TourMetric):
    """Cost (length) of the draws' tours, -U / scale.

    Values, one per seed:
        tour_cost, tour_cost_sd: mean and population standard deviation over all draws.
        tour_cost_best: cost of the shortest visited tour.
        tour_cost_excess: (best - optimum) / optimum, if the optimum is known; differences below 1e-6 are 0.

    For at most 8 cities, for which the visits to every tour are counted:
        tours_visited: number of distinct visited tours; rotations are distinct.
        tour_cost_distinct, tour_cost_distinct_sd: mean and population standard deviation over the distinct
            visited tours, as in EDLP.
        tour_cost_exact, tour_cost_exact_sd: mean and standard deviation under the target.
    """

    name = "tour_cost"
    unit = "length"
    bounds = (0.0, math.inf)
    direction = "min"

    def result(self) -> dict[str, Tensor]:
        values = self._of_sums() if self.visits is None else self._of_visits(self.visits)
        optimum = self.target.optimum()
        if optimum is not None:
            excess = values["tour_cost_best"] / optimum - 1.0
            values["tour_cost_excess"] = excess.where(excess.abs() > 1e-6, 0.0)
        return values

    def _of_visits(self, visits: TourVisits) -> dict[str, Tensor]:
        costs, counts = visits.costs, visits.counts
        seen = (counts > 0).double()
        mean, sd = weighted(costs, counts.double())
        distinct, distinct_sd = weighted(costs, seen)
        exact, exact_sd = weighted(costs, (-self.target.scale * costs).softmax(0).unsqueeze(0))
        return {
            self.name: mean,
            "tour_cost_sd": sd,
            "tour_cost_best": by_seed(lambda row: costs[row > 0].min(), seen),
            "tours_visited": by_seed(lambda row: row.sum(), seen),
            "tour_cost_distinct": distinct,
            "tour_cost_distinct_sd": distinct_sd,
            "tour_cost_exact": exact.expand(self.context.seeds),
            "tour_cost_exact_sd": exact_sd.expand(self.context.seeds),
        }

    def _of_sums(self) -> dict[str, Tensor]:
        mean = by_seed(lambda row: row.mean(), self.sums.cost / self.sums.steps)
        square = by_seed(lambda row: row.mean(), self.sums.square / self.sums.steps)
        variance = square - (mean - self.sums.shift.squeeze(-1)).square()
        return {
            self.name: mean,
            "tour_cost_sd": variance.clamp_(min=0.0).sqrt(),
            "tour_cost_best": self.best.of_seed()[0],
        }


def weighted(values: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and population standard deviation of `values` ``(size,)`` by `weights` ``(seeds, size)``."""

    def both(row: Tensor) -> Tensor:
        share = row / row.sum()
        mean = (share * values).sum()
        return torch.stack([mean, (share * (values - mean).square()).sum().sqrt()])

    found = by_seed(both, weights)
    return found[:, 0], found[:, 1]
