"""Sums over the visited tours and each chain's best tour, for tours too many to be counted one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor

from metrics.applications.tour_visits import require_tours
from metrics.metric import Context, Statistic
from metrics.statistics.sums import Sums, restore
from samplers.kernel import Info


class TourSums(Sums):
    """Sums over steps of each chain's cost and its square, and counts of each city at each position.

    Attributes:
        cost, square: ``(seeds, chains)``, float64.
        places: number of draws with city c at position i, ``(seeds, n, n)``, int64. It determines the mean
            number of positions in which the draws differ from any one tour.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.target = require_tours("tour_sums", context)
        n = self.target.cities
        self.cost = self.zeros("cost", context.seeds, context.chains)
        self.square = self.zeros("square", context.seeds, context.chains)
        self.places = self.zeros("places", context.seeds, n, n, dtype=torch.int64)
        seed = torch.arange(context.seeds, device=context.device).reshape(-1, 1, 1)
        self._row = (seed * n + torch.arange(n, device=context.device)) * n
        self._one = torch.ones(1, dtype=torch.int64, device=context.device)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        tour = self.target.tour(theta)
        cost = self.target.cost(tour)
        self.cost.add_(cost)
        self.square.addcmul_(cost, cost)
        cells = (self._row + tour).flatten()
        self.places.view(-1).scatter_add_(0, cells, self._one.expand(cells.shape))
        self.steps += 1


class BestTour(Statistic):
    """The shortest tour that each chain has visited, the first of equally short ones.

    Attributes:
        cost: its length, ``(seeds, chains)``, float64; infinite before the first draw.
        tour: the city at each position, ``(seeds, chains, n)``, int64.
    """

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

    def state_dict(self) -> dict[str, Any]:
        return {"cost": self.cost.clone(), "tour": self.tour.clone()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`.

        Raises:
            ValueError: if a saved tensor has a different shape.
        """
        restore("cost", self.cost, state["cost"])
        restore("tour", self.tour, state["tour"])

    def _offer(self, cost: Tensor, tour: Tensor) -> None:
        """Replaces a chain's best tour where the given one is shorter."""
        shorter = cost < self.cost
        self.tour = torch.where(shorter.unsqueeze(-1), tour, self.tour)
        self.cost = torch.where(shorter, cost, self.cost)
