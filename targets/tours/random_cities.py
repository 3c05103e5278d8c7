"""Random cities on the unit square, with asymmetric distances (settings E.2)."""

from __future__ import annotations

import torch
from torch import Tensor

from targets.randomness import derive_seed, uniform

ASYMMETRY = 0.2
"""A distance exceeds the Euclidean one by at most this fraction."""


def random_cities(cities: int, seed: int) -> Tensor:
    """Distances ``(n, n)`` from the city of the row to that of the column, float64, with zero diagonal.

    Coordinates are uniform on the unit square. A distance is the Euclidean one times a weight that is
    uniform on [1, 1.2], independent for the two directions.
    """
    generator = torch.Generator().manual_seed(derive_seed(seed, "cities"))
    like = torch.empty(0, dtype=torch.float64)
    points = uniform(generator, (cities,), (2,), like=like)
    weights = 1.0 + ASYMMETRY * uniform(generator, (cities,), (cities,), like=like)
    return (points.unsqueeze(1) - points).square().sum(-1).sqrt() * weights
