"""In how many pairs of entries tours differ: the mismatch count of EDLP's released code (settings E.2)."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor

from metrics.applications.tour_mismatch import best_of
from metrics.applications.tour_statistics import TourMetric
from metrics.metric import Context, UnsupportedMetric, by_seed
from targets.tours.tour_space import MOST_LISTED


class TourPairMismatch(TourMetric):
    """Number of pairs of entries in which distinct visited tours differ: `swap_distance` in the code of EDLP.

    A closed tour of n cities has n + 1 entries, the last of which repeats the first, and so n (n + 1) / 2
    pairs of entries. A pair counts unless both entries are equal in the two tours. Rotations are not
    compared. EDLP calls it the pairwise mismatch count. If several tours are equally short, the first in
    lexicographic order is the best; in the released code it is the first visited.

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
    closed = torch.cat([tours, tours[:, :1]], -1)
    visited, best = closed[seen], closed[best_of(costs, seen)]
    equal = (visited == best).sum(-1).double()
    entries = closed.shape[-1]
    pairs = entries * (entries - 1) / 2
    to_best = pairs - equal * (equal - 1) / 2
    mean, sd = to_best.mean(), to_best.std(correction=0)
    same, square = _same_pairs(visited, tours.shape[-1])
    return torch.stack([mean, sd, mean + sd, pairs - same, (square - same.square()).clamp(min=0.0).sqrt()])


def _same_pairs(closed: Tensor, cities: int) -> tuple[Tensor, Tensor]:
    """Mean of X and of X squared over every two of the `closed` tours ``(tours, n + 1)``, ``()`` each.

    X counts the pairs of entries that are equal in both. X is the number of sets of two such entries; in its
    square each set of two stands once, each set of three and each set of four six times. How many ordered
    pairs of tours agree on a set is the sum of the squared counts of its values, less the number of tours:
    no two tours are compared.
    """
    number = len(closed)
    sums = []
    for size in (2, 3, 4):
        places = cities ** torch.arange(size, device=closed.device)
        agree = closed.new_zeros((), dtype=torch.float64)
        for entries in itertools.combinations(range(closed.shape[-1]), size):
            found = torch.bincount((closed[:, list(entries)] * places).sum(-1), minlength=cities**size)
            agree += found.double().square().sum() - number
        sums.append(agree / (number * (number - 1)))  # 0 / 0 of one tour is NaN
    two, three, four = sums
    return two, two + 6.0 * (three + four)
