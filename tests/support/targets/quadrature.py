"""Partition functions of a mixture in the plane by quadrature."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from targets.synthetic.gaussian_mixture import GaussianMixture


def level_partitions(target: GaussianMixture, betas: Tensor, half: float, points: int = 1201) -> Tensor:
    """log Z by the trapezoidal rule on a square of side 2 `half`, which converges exponentially here."""
    axis = torch.linspace(-half, half, points, dtype=torch.float64)
    energy = target.log_prob(torch.cartesian_prod(axis, axis))
    cell = 2 * math.log(2 * half / (points - 1))
    return (betas.double().unsqueeze(-1) * energy).logsumexp(-1) + cell
