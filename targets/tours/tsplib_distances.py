"""Distances between cities as TSPLIB 95 defines them (Reinelt 1995, section 2)."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

EARTH = 6378.388
"""Radius of the earth in kilometres, as in TSPLIB."""

PI = 3.141592
"""As in TSPLIB, on which the published lengths are based."""


def _squares(points: Tensor) -> Tensor:
    return (points.unsqueeze(1) - points.unsqueeze(0)).square().sum(-1)


def euclidean(points: Tensor) -> Tensor:
    """EUC_2D ``(n, n)`` of points ``(n, 2)``: the Euclidean distance, rounded to the nearest whole number."""
    return (_squares(points).sqrt() + 0.5).floor()


def ceiling(points: Tensor) -> Tensor:
    """CEIL_2D ``(n, n)`` of points ``(n, 2)``: the Euclidean distance, rounded up."""
    return _squares(points).sqrt().ceil()


def pseudo_euclidean(points: Tensor) -> Tensor:
    """ATT ``(n, n)`` of points ``(n, 2)``: the Euclidean distance over the root of 10, rounded up."""
    return (_squares(points) / 10.0).sqrt().ceil()


def geographical(points: Tensor) -> Tensor:
    """GEO: great circles in kilometres, rounded down plus 1; coordinates are DDD.MM, latitude first."""
    degrees = points.trunc()
    radians = PI * (degrees + 5.0 * (points - degrees) / 3.0) / 180.0
    latitude, longitude = radians.unbind(-1)
    q1 = (longitude.unsqueeze(1) - longitude).cos()
    q2 = (latitude.unsqueeze(1) - latitude).cos()
    q3 = (latitude.unsqueeze(1) + latitude).cos()
    cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)
    lengths = (EARTH * cosine.clamp(-1.0, 1.0).acos() + 1.0).floor()
    return lengths.fill_diagonal_(0.0)


DISTANCES: dict[str, Callable[[Tensor], Tensor]] = {
    "EUC_2D": euclidean,
    "CEIL_2D": ceiling,
    "ATT": pseudo_euclidean,
    "GEO": geographical,
}
"""From points ``(n, 2)``, float64, to distances ``(n, n)``, by EDGE_WEIGHT_TYPE."""
