"""Centres of the components of PT-DLP's synthetic mixtures, in the square [-1.5, 1.5]^2."""

from __future__ import annotations

import math

import torch
from torch import Tensor

COMPONENTS = (2, 4, 6, 8, 10, 12, 14, 16)
"""Numbers of components that the paper uses."""

_DIAGONAL = math.sqrt(0.5)
_AXES = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
_DIAGONALS = tuple((_DIAGONAL * x, _DIAGONAL * y) for x, y in ((1, 1), (-1, -1), (1, -1), (-1, 1)))
_RING = _AXES + _DIAGONALS
_BEYOND_THE_RING = tuple((2 * x, 2 * y) for x, y in _RING[:6])


def ring(components: int) -> Tensor:
    """The first `components` of eight points on the circle of radius 1, ``(components, 2)``.

    In the released order: (+-1, 0), then (0, +-1), then the two points on the main diagonal, then the two
    on the other one (settings A.1, row "centres").
    """
    return torch.tensor(_RING[:components], dtype=torch.float64)


def two_rings(components: int) -> Tensor:
    """Eight points at radius 1.2 and the other ``components - 8`` at radius 0.6, evenly spaced on each.

    Both rings start at angle 0. For 10, 12 and 14 components the smallest distance is at least 0.6.
    """
    inner = components - 8
    radius = torch.tensor([1.2] * 8 + [0.6] * inner, dtype=torch.float64)
    turn = torch.tensor([k / 8 for k in range(8)] + [k / inner for k in range(inner)], dtype=torch.float64)
    angle = 2 * math.pi * turn
    return radius.unsqueeze(-1) * torch.stack([angle.cos(), angle.sin()], dim=-1)


def lattice() -> Tensor:
    """The 4 x 4 lattice with coordinates +-0.35 and +-1.05, ``(16, 2)``."""
    axis = torch.tensor([-1.05, -0.35, 0.35, 1.05], dtype=torch.float64)
    return torch.cartesian_prod(axis, axis)


def centres_inside(components: int) -> Tensor:
    """Centres ``(components, 2)`` inside the square, so that every mode can be visited.

    One ring up to 8 components, two rings for 10 to 14, the lattice for 16 (settings A.1,
    row "centres", recommended).
    """
    if components <= 8:
        return ring(components)
    return two_rings(components) if components < 16 else lattice()


def released(components: int) -> Tensor:
    """Centres of the released code for up to 14 components, ``(components, 2)``.

    For more than 8 they are the ring and points at twice its radius, of which (+-2, 0) and (0, +-2) are
    outside the square. For 16 the released code uses the ring of 8 for Gaussians and the lattice for
    Student-t.
    """
    points = (_RING + _BEYOND_THE_RING)[:components]
    return torch.tensor(points, dtype=torch.float64)
