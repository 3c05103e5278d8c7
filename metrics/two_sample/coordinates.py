"""Euclidean coordinates of the levels of a discrete space, for kernels between states.

Every coordinate of a state is embedded separately, so a Gaussian kernel on states is a product of one kernel
per coordinate, and a random Fourier feature is a product of one complex wave per coordinate.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from samplers.hyperparameters import positive
from targets.spaces import Discrete, Ordinal

GRID_BANDWIDTH = 0.25


def level_coordinates(space: Discrete, extent: float = 3.0) -> Tensor:
    """The Euclidean coordinates of the levels of one coordinate, ``(levels, axes)``, float64.

    Ordinal levels are spread evenly over [-extent / 2, extent / 2]; with extent 3 and 101 levels that is u =
    3 i / 100 - 1.5, the coordinate of the grid mixtures. Binary levels are 0 and 1, categorical levels are
    their one-hot vectors.
    """
    if isinstance(space, Ordinal):
        width = float(positive("extent", extent))
        return torch.linspace(-width / 2, width / 2, space.levels, dtype=torch.float64).unsqueeze(-1)
    levels = torch.arange(space.levels).unsqueeze(-1)
    return space.from_levels(levels, torch.float64).squeeze(1).reshape(space.levels, -1)


def bandwidth(space: Discrete, given: float | None = None) -> float:
    """The bandwidth sigma of the Gaussian kernel: `given`, or by default 0.25 on ordinal spaces (in u).

    On binary and one-hot spaces the default is the root mean square distance between two uniform states:
    sqrt(d / 2) and sqrt(2 d (1 - 1 / levels)).
    """
    if given is not None:
        return float(positive("bandwidth", given))
    if isinstance(space, Ordinal):
        return GRID_BANDWIDTH
    return math.sqrt(
        space.d * float(torch.cdist(level_coordinates(space), level_coordinates(space)).square().mean())
    )
