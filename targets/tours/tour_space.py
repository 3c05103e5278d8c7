"""Tours of n cities: the space of permutations, and the protocol of targets whose states are tours."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from targets.randomness import Generator, uniform
from targets.spaces import Discrete

MOST_LISTED = 8
"""Largest number of cities whose tours are listed: 8! = 40,320. Rotations of a tour are distinct tours."""


@runtime_checkable
class HasTours(Protocol):
    """A target whose states of positive density are tours: a city for each position."""

    cities: int
    """Number n of cities, and of positions."""
    scale: float
    """U of a tour is minus its cost times this."""

    def tour(self, theta: Tensor) -> Tensor:
        """The city at each position, ``(*batch, n)``, int64."""

    def cost(self, tour: Tensor) -> Tensor:
        """Length of each closed tour ``(*batch, n)``, ``(*batch)``, float64."""

    def optimum(self) -> float | None:
        """Length of the shortest tour; None where it is not known."""


@dataclass(frozen=True)
class Tours(Discrete):
    """The permutations of ``0 .. d - 1``: states ``(*batch, d)``, in lexicographic order.

    Raises:
        ValueError: unless there are as many levels as coordinates.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.levels != self.d:
            raise ValueError(f"a tour of {self.d} cities has {self.d} levels, levels={self.levels} was given")

    @property
    def size(self) -> int:
        """Number of permutations, d!."""
        return math.factorial(self.d)

    def index(self, theta: Tensor) -> Tensor:
        """Lexicographic rank of each permutation, ``(*batch)``, int64: its Lehmer code."""
        levels = self.to_levels(theta)
        place = torch.zeros_like(levels[..., 0])
        for position in range(self.d - 1):
            smaller = (levels[..., position + 1 :] < levels[..., position, None]).sum(-1)
            place = place * (self.d - position) + smaller
        return place

    def states(self, dtype: torch.dtype = torch.float64) -> Tensor:
        """All permutations ``(d!, d)``.

        Raises:
            ValueError: for more than 8 cities.
        """
        if self.d > MOST_LISTED:
            raise ValueError(f"the tours of {self.d} cities are too many to list, {MOST_LISTED} is the limit")
        return torch.tensor(list(itertools.permutations(range(self.d))), dtype=dtype)

    def at(self, index: Tensor, dtype: torch.dtype) -> Tensor:
        """The permutations ``(*batch, d)`` of each rank `index` ``(*batch)``, from its Lehmer code."""
        left = torch.arange(self.d, device=index.device).expand(*index.shape, self.d)
        levels = []
        for position in range(self.d):
            following = math.factorial(self.d - 1 - position)
            place = (index // following).unsqueeze(-1)
            levels.append(left.gather(-1, place))
            # The cities left without the one taken, in order.
            kept = torch.arange(self.d - 1 - position, device=index.device)
            left = left.gather(-1, kept + (kept >= place))
            index = index % following
        return self.from_levels(torch.cat(levels, -1), dtype)

    def contains(self, theta: Tensor) -> Tensor:
        return super().contains(theta) & is_tour(self.to_levels(theta).clamp(0, self.d - 1), self.d)

    def initial(self, shape: Sequence[int], generator: Generator, *, like: Tensor) -> Tensor:
        """Independent uniform permutations ``(*shape, d)``."""
        return uniform(generator, shape, (self.d,), like=like).argsort(-1).to(like.dtype)


def is_tour(tour: Tensor, cities: int) -> Tensor:
    """Whether every city occurs exactly once, ``(*batch)``, bool.

    Args:
        tour: ``(*batch, cities)``, int64 from 0; numbers of at least `cities` are not cities.
    """
    there = torch.zeros((*tour.shape[:-1], 2 * cities), dtype=torch.bool, device=tour.device)
    return there.scatter_(-1, tour.clamp(max=2 * cities - 1), True)[..., :cities].all(-1)


def rotations(tour: Tensor) -> Tensor:
    """All n rotations of `tour` ``(n)``, ``(n, n)``."""
    return torch.stack([tour.roll(shift, -1) for shift in range(tour.shape[-1])])
