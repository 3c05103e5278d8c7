"""Tours of a few random cities, every one of them a state, so that all transitions can be listed."""

from __future__ import annotations

import torch
from torch import Tensor

from targets.synthetic.tabulated import Tabulated
from targets.tours.tour_space import Tours, is_tour
from targets.tours.tsp import TSP


class SmallTours(Tabulated):
    """The distribution of `TSP` on the permutations alone: a state is the tour, a number for each position.

    Every permutation has a positive probability, so that any two states can be swapped; any other vector has
    probability zero. Between permutations there is no gradient; it is given as zero.

    Args:
        cities: at most 8.
        scale: of the energy.
        seed: of the cities.
    """

    constrained = True

    def __init__(self, cities: int = 3, scale: float = 3.0, seed: int = 1) -> None:
        tsp = TSP(cities, encoding="one_hot", scale=scale, instance_seed=seed)
        space = Tours(cities, cities)
        log_prob = tsp.log_prob(tsp.state(tsp.tours()))
        super().__init__(space, log_prob, torch.zeros((space.size, cities), dtype=torch.float64))
        self.cities, self.scale = cities, tsp.scale
        self._tsp = tsp

    def log_prob(self, theta: Tensor) -> Tensor:
        return super().log_prob(theta).masked_fill(~is_tour(theta.long(), self.cities), -torch.inf)

    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        _, grad = super().log_prob_and_grad(theta)
        return self.log_prob(theta), grad

    def tour(self, theta: Tensor) -> Tensor:
        """The city at each position, ``(*batch, cities)``, int64: the state itself."""
        return theta.long()

    def cost(self, tour: Tensor) -> Tensor:
        """Length of each tour, ``(*batch)``, float64."""
        return self._tsp.cost(tour)

    def optimum(self) -> float | None:
        """Length of the shortest tour."""
        return self._tsp.optimum()
