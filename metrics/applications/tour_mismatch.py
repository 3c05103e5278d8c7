"""In how many positions tours differ from the best one: the mismatch count of EDLP (Figures 3, 12, 13)."""

from __future__ import annotations

import torch
from torch import Tensor

from metrics.applications.tour_sums import BestTour, TourSums
from metrics.applications.tour_visits import TourVisits, need_tours
from metrics.metric import Context, Metric, by_seed
from targets.tours.tour_space import MOST_LISTED, rotations

TIE = 1e-6
"""Tours are as short as the shortest where they exceed it by no more than this share: rotations round."""


class TourMismatch(Metric):
    """Positions in which visited tours differ from the best tour that the same seed visited.

    Positions are compared as they stand, so that a tour and its own rotation differ everywhere. Every
    rotation has the same energy: under the target each city is equally likely at each position, and the mean
    mismatch to any one tour is n - 1 whatever the energy. Less than that says that a chain did not go round,
    and nothing of the lengths; `tour_mismatch_rotated` is free of it. Where several tours are the best, it is
    the first of them in lexicographic order (by chain and time for more than 8 cities).

    Values, one per seed:
        tour_mismatch_draws: mean over all draws.

    For at most 8 cities, over the distinct tours visited besides the best one, each once, as EDLP has it; NaN
    where there is no other:
        tour_mismatch, tour_mismatch_sd: mean and population standard deviation.
        tour_mismatch_upper: their sum, the upper end that EDLP compares.
        tour_mismatch_rotated: mean of the least mismatch over the rotations of the best tour.
        tour_mismatch_optimum: the same to the target's own shortest tour, over all distinct tours visited.

    Raises:
        UnmetNeed: if the target's states are no tours.
    """

    name = "tour_mismatch"
    unit = "positions"
    direction = None

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.target = need_tours(self.name, context)
        self.visits: TourVisits | None = None
        if self.target.cities <= MOST_LISTED:
            self.visits = context.statistic(TourVisits)
        else:
            self.sums, self.best = context.statistic(TourSums), context.statistic(BestTour)

    def result(self) -> dict[str, Tensor]:
        if self.visits is None:
            return {"tour_mismatch_draws": self._of_sums()}
        visits = self.visits
        names = ("draws", "", "sd", "upper", "rotated", "optimum")
        found = by_seed(lambda row: _of_counts(visits.tours, visits.costs, row), visits.counts)
        keys = [f"{self.name}_{name}" if name else self.name for name in names]
        return {key: found[:, place] for place, key in enumerate(keys)}

    def _of_sums(self) -> Tensor:
        """n less the mean number of positions at which the city is that of the best tour."""
        _, best = self.best.of_seed()
        same = self.sums.places.gather(-1, best.unsqueeze(-1)).squeeze(-1)
        draws = self.sums.steps * self.context.chains
        return self.target.cities - same.sum(-1).double() / draws


def best_of(costs: Tensor, seen: Tensor) -> Tensor:
    """Place of the first of the shortest tours among those `seen`, ``()``, int64.

    Args:
        costs: of all tours in lexicographic order, ``(size,)``.
        seen: whether each was visited, ``(size,)``, bool.
    """
    shown = costs.masked_fill(~seen, torch.inf)
    return (shown <= shown.min() * (1.0 + TIE)).to(torch.int64).argmax()


def mismatches(tours: Tensor, other: Tensor) -> Tensor:
    """Number of positions in which `tours` ``(*batch, n)`` differ from `other` ``(n)``, float64."""
    return (tours != other).sum(-1).double()


def nearest_rotation(tours: Tensor, other: Tensor) -> Tensor:
    """The least of `mismatches` over the rotations of `other` ``(n)``."""
    return mismatches(tours.unsqueeze(-2), rotations(other)).amin(-1)


def _of_counts(tours: Tensor, costs: Tensor, counts: Tensor) -> Tensor:
    """The values of one seed in the order of `TourMismatch.result`, ``(6,)``."""
    seen = counts > 0
    place = best_of(costs, seen)
    best, optimum = tours[place], tours[best_of(costs, torch.ones_like(seen))]
    visited = tours[seen]
    share = counts[seen].double() / counts.sum()
    others = visited[(visited != best).any(-1)]
    gaps = mismatches(others, best)
    mean = gaps.mean()
    sd = (gaps - mean).square().mean().sqrt()
    return torch.stack(
        [
            (share * mismatches(visited, best)).sum(),
            mean,
            sd,
            mean + sd,
            nearest_rotation(others, best).mean(),
            nearest_rotation(visited, optimum).mean(),
        ]
    )
