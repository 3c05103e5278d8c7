"""Number of positions in which tours differ from the best one: EDLP's mismatch count (Figures 3, 12, 13)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metrics.applications.tour_statistics import TourMetric
from metrics.metric import by_seed
from targets.tours.tour_space import rotations

TIE = 1e-6
"""Relative difference up to which two costs count as equal: costs of rotations differ by rounding."""


class TourMismatch(TourMetric):
    """Number of positions in which visited tours differ from the best tour that the same seed visited.

    Positions are compared directly, so a tour differs from its own rotation at every position. All rotations
    have the same energy; hence under the target each city is equally likely at each position, and the mean
    mismatch to any tour is n - 1 whatever the energy. A smaller value shows that a chain did not mix over
    rotations, and not that its tours are short; `tour_mismatch_rotated` does not have this defect. If several
    tours are equally short, the first in lexicographic order is the best (for more than 8 cities the first by
    chain and step).

    Values, one per seed:
        tour_mismatch_draws: mean over all draws.

    For at most 8 cities, over the distinct visited tours other than the best one; NaN if there are none:
        tour_mismatch, tour_mismatch_sd: mean and population standard deviation.
        tour_mismatch_upper: their sum, which EDLP compares.
        tour_mismatch_rotated: mean of the minimum mismatch over the rotations of the best tour.
        tour_mismatch_optimum: the same to the target's shortest tour, over all distinct visited tours.
    """

    name = "tour_mismatch"
    unit = "positions"
    bounds = (0.0, math.inf)
    direction = None

    def result(self) -> dict[str, Tensor]:
        if self.visits is None:
            return {"tour_mismatch_draws": self._of_sums()}
        visits = self.visits
        names = ("draws", "", "sd", "upper", "rotated", "optimum")
        found = by_seed(lambda row: _of_counts(visits.tours, visits.costs, row), visits.counts)
        keys = [f"{self.name}_{name}" if name else self.name for name in names]
        return {key: found[:, place] for place, key in enumerate(keys)}

    def _of_sums(self) -> Tensor:
        """n minus the mean number of positions at which the city is that of the best tour."""
        _, best = self.best.of_seed()
        same = self.sums.places.gather(-1, best.unsqueeze(-1)).squeeze(-1)
        draws = self.sums.steps * self.context.chains
        return self.target.cities - same.sum(-1).double() / draws


def best_of(costs: Tensor, seen: Tensor) -> Tensor:
    """Index of the first of the shortest tours among those `seen`, ``()``, int64.

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
    """The minimum of `mismatches` over the rotations of `other` ``(n)``."""
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
