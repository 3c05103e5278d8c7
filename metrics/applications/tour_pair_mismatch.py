"""In how many pairs of positions tours differ: the mismatch count of EDLP's released code (settings E.2)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metrics.applications.tour_mismatch import best_of
from metrics.applications.tour_statistics import TourMetric
from metrics.metric import Context, UnsupportedMetric, by_seed
from targets.tours.tour_space import MOST_LISTED

ROWS = 2_000
"""Tours that are compared with all others at once."""


class TourPairMismatch(TourMetric):
    """Number of pairs of entries in which distinct visited tours differ: `swap_distance` in the code of EDLP.

    A closed tour of n cities has n + 1 entries, the last of which repeats the first, and so n (n + 1) / 2
    pairs of entries. A pair counts unless both entries are equal in the two tours. Rotations are not
    compared. EDLP calls it the pairwise mismatch count.

    Values, one per seed:
        tour_pair_mismatch, tour_pair_mismatch_sd: mean and population standard deviation to the best tour,
            over the distinct visited tours, the best one included (Figures 3 and 13).
        tour_pair_mismatch_upper: their sum.
        tour_pair_mismatch_all, tour_pair_mismatch_all_sd: of every two distinct visited tours (Figure 12);
            NaN if there is one tour.

    Source: the released code of EDLP (`EDLP/tsp_sample.py`).

    Raises:
        UnsupportedMetric: for more than 8 cities, whose visits are not counted.
    """

    name = "tour_pair_mismatch"
    unit = "pairs"
    bounds = (0.0, math.inf)
    direction = None

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        if self.visits is None:
            raise UnsupportedMetric(f"{self.name} needs a target of at most {MOST_LISTED} cities")

    def result(self) -> dict[str, Tensor]:
        visits = self.visits
        assert visits is not None
        found = by_seed(lambda row: _of_counts(visits.tours, visits.costs, row), visits.counts)
        keys = [f"{self.name}{end}" for end in ("", "_sd", "_upper", "_all", "_all_sd")]
        return {key: found[:, place] for place, key in enumerate(keys)}


def _of_counts(tours: Tensor, costs: Tensor, counts: Tensor) -> Tensor:
    """The values of one seed in the order of `TourPairMismatch.result`, ``(5,)``."""
    seen = counts > 0
    visited, best = tours[seen], tours[best_of(costs, seen)]
    to_best = _equal_entries(visited, best.unsqueeze(0))
    # A tour beside itself is left out.
    every = _equal_entries(visited, visited)
    every[-1] -= len(visited)
    mean, sd = _moments(to_best)
    return torch.stack([mean, sd, mean + sd, *_moments(every)])


def _equal_entries(tours: Tensor, others: Tensor) -> Tensor:
    """How many pairs of a tour ``(tours, n)`` and another have 0 to n + 1 equal entries, ``(n + 2,)``."""
    n = tours.shape[-1]
    one, other = (_one_hot(each) for each in (tours, others))
    counts = torch.zeros(n + 2, dtype=torch.float64, device=tours.device)
    for start in range(0, len(one), ROWS):
        equal = (one[start : start + ROWS] @ other.T).round_().long()
        counts += torch.bincount(equal.flatten(), minlength=n + 2)
    return counts


def _one_hot(tours: Tensor) -> Tensor:
    """Entries of closed tours ``(tours, n)`` as vectors ``(tours, (n + 1) n)``, float32: whole numbers."""
    closed = torch.cat([tours, tours[:, :1]], -1)
    return torch.nn.functional.one_hot(closed, tours.shape[-1]).flatten(-2).float()


def _moments(counts: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of the differing pairs, by how many entries are equal ``(n + 2,)``."""
    equal = torch.arange(len(counts), dtype=torch.float64, device=counts.device)
    entries = len(counts) - 1
    differing = (entries * (entries - 1) - equal * (equal - 1)) / 2
    share = counts / counts.sum()
    mean = share @ differing
    return mean, (share @ (differing - mean).square()).sqrt()
