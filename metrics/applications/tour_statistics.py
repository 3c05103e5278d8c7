"""What is kept of the visited tours: a count of each for few cities; sums and each chain's best for many."""

from __future__ import annotations

from typing import Self, cast

import torch
from torch import Tensor

from metrics.metric import Context, Metric, Statistic
from metrics.requirements import require_members
from metrics.statistics.sums import Sums
from metrics.statistics.visit_histogram import VisitHistogram
from samplers.kernel import Info
from targets.tours.tour_space import MOST_LISTED, HasTours, Tours

MEMBERS = ("cities", "scale", "tour", "cost", "optimum")


def require_tours(metric: str, context: Context) -> HasTours:
    """The target, whose states must be tours.

    Raises:
        UnsupportedMetric: if they are not.
    """
    need = "whose states are tours; those of {} are not"
    return cast(HasTours, require_members(metric, context, MEMBERS, need))


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
        self.target = require_tours("tour_visits", context)
        # Indexed by permutations, not by the states of the target's space, most of which are not tours.
        super().__init__(context, Tours(self.target.cities, self.target.cities))
        self.tours = self.space.states().long().to(context.device)
        self.costs = self.target.cost(self.tours)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        super().update(step, self.target.tour(theta), info)


class TourSums(Sums):
    """Sums over steps of each chain's cost and its square, and counts of each city at each position.

    Attributes:
        shift: the cost of each seed's first draw, ``(seeds, 1)``, float64; 0 before it.
        cost: ``(seeds, chains)``, float64.
        square: of the cost minus `shift`, likewise, so that the variance loses no digits.
        places: number of draws with city c at position i, ``(seeds, n, n)``, int64. It determines the mean
            number of positions in which the draws differ from any one tour.
    """

    saved = ("shift",)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.target = require_tours("tour_sums", context)
        n = self.target.cities
        self.shift = torch.zeros((context.seeds, 1), dtype=torch.float64, device=context.device)
        self.cost = self.zeros("cost", context.seeds, context.chains)
        self.square = self.zeros("square", context.seeds, context.chains)
        self.places = self.zeros("places", context.seeds, n, n, dtype=torch.int64)
        seed = torch.arange(context.seeds, device=context.device).reshape(-1, 1, 1)
        self._row = (seed * n + torch.arange(n, device=context.device)) * n
        self._one = torch.ones(1, dtype=torch.int64, device=context.device)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        tour = self.target.tour(theta)
        cost = self.target.cost(tour)
        if not self.steps:
            self.shift.copy_(cost[:, :1])
        self.cost.add_(cost)
        self.square.add_((cost - self.shift).square())
        cells = (self._row + tour).flatten()
        self.places.view(-1).scatter_add_(0, cells, self._one.expand(cells.shape))
        self.steps += 1

    def merge(self, other: Self) -> None:
        theirs = other.shift.to(self.shift)
        if not self.steps:
            self.shift.copy_(theirs)
        # The other's squares as if it had subtracted this one's cost.
        apart = theirs - self.shift
        beyond = other.cost.to(apart) - other.steps * theirs
        self.square.add_(2.0 * apart * beyond + other.steps * apart.square())
        super().merge(other)


class BestTour(Statistic):
    """The shortest tour that each chain has visited, the first of equally short ones.

    Attributes:
        cost: its length, ``(seeds, chains)``, float64; infinite before the first draw.
        tour: the city at each position, ``(seeds, chains, n)``, int64.
    """

    saved = ("cost", "tour")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.target = require_tours("best_tour", context)
        shape = (context.seeds, context.chains)
        self.cost = torch.full(shape, torch.inf, dtype=torch.float64, device=context.device)
        self.tour = torch.zeros((*shape, self.target.cities), dtype=torch.int64, device=context.device)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        tour = self.target.tour(theta)
        self._offer(self.target.cost(tour), tour)

    def merge(self, other: Self) -> None:
        self._offer(other.cost.to(self.cost.device), other.tour.to(self.tour.device))

    def of_seed(self) -> tuple[Tensor, Tensor]:
        """Length ``(seeds,)`` and tour ``(seeds, n)`` of each seed's best chain, the first of equal ones."""
        cost, chain = self.cost.min(-1)
        at = chain.reshape(-1, 1, 1).expand(-1, 1, self.tour.shape[-1])
        return cost, self.tour.gather(1, at).squeeze(1)

    def _offer(self, cost: Tensor, tour: Tensor) -> None:
        """Replaces a chain's best tour where the given one is shorter."""
        shorter = cost < self.cost
        self.tour = torch.where(shorter.unsqueeze(-1), tour, self.tour)
        self.cost = torch.where(shorter, cost, self.cost)


class TourMetric(Metric):
    """A metric of the visited tours.

    Attributes:
        visits: the counts of all tours; None for more than 8 cities, where `sums` and `best` are kept.

    Raises:
        UnsupportedMetric: if the target's states are not tours.
    """

    needs_draws = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.target = require_tours(self.name, context)
        self.visits: TourVisits | None = None
        if self.target.cities <= MOST_LISTED:
            self.visits = context.statistic(TourVisits)
        else:
            self.sums, self.best = context.statistic(TourSums), context.statistic(BestTour)
