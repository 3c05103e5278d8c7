"""Squared maximum mean discrepancy in closed form: p'Kp + q'Kq - 2 p'Kq = (q - p)' K (q - p).

The mean for N independent draws from the target is (1 - p'Kp) / N.
"""

from __future__ import annotations

import torch
from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.requirements import require_enumeration
from metrics.statistics.visit_histogram import VisitHistogram
from metrics.two_sample.coordinates import bandwidth as resolve_bandwidth
from metrics.two_sample.coordinates import level_coordinates


class MMDExact(Metric):
    """MMD^2 between visit frequencies and target under the Gaussian kernel exp(-|u - v|^2 / (2 sigma^2)).

    The kernel is a product over coordinates, so K is applied one coordinate at a time (K1 P K1 on a
    two-dimensional grid) and never stored.

    Args:
        bandwidth: sigma (`metrics.two_sample.coordinates.bandwidth` gives the default).
        extent: width of an ordinal coordinate (`metrics.two_sample.coordinates.level_coordinates`).

    Raises:
        UnsupportedMetric: if the target's states cannot be listed.
    """

    name = "mmd_exact"
    unit = "squared distance"
    direction = "min"

    def __init__(self, context: Context, bandwidth: float | None = None, extent: float = 3.0) -> None:
        super().__init__(context)
        space, self.probabilities = require_enumeration(self.name, context)
        levels = level_coordinates(space, extent).to(context.device)
        self.kernel = gaussian_kernel(levels, resolve_bandwidth(space, bandwidth))
        self.coordinates = space.d
        self.visits = context.statistic(VisitHistogram)

    def result(self) -> dict[str, Tensor]:
        gaps = self.visits.frequencies() - self.probabilities
        return {self.name: by_seed(lambda gap: quadratic_form(self.kernel, gap, self.coordinates), gaps)}


def gaussian_kernel(levels: Tensor, sigma: float) -> Tensor:
    """The kernel between the levels of one coordinate: ``(levels, axes)`` to ``(levels, levels)``."""
    squares = (levels.unsqueeze(1) - levels).square().sum(-1)
    return torch.exp(-squares / (2 * sigma**2))


def quadratic_form(kernel: Tensor, weights: Tensor, coordinates: int) -> Tensor:
    """w' (K x .. x K) w for `weights` w ``(levels ** coordinates,)``; clamped at zero against rounding."""
    applied = weights
    for _ in range(coordinates):
        applied = (applied.reshape(len(kernel), -1).T @ kernel).flatten()
    return (weights * applied).sum().clamp(min=0.0)
