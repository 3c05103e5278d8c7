"""Squared maximum mean discrepancy by random Fourier features (Rahimi and Recht 2007; PT-DLP v2, F.1).

phi(u) = sqrt(2 / D) cos(W u + b), W_ij ~ N(0, 1 / sigma^2), b_i uniform on [0, 2 pi], and
MMD^2 = |mean phi(draws) - E_pi phi|^2 with one and the same phi on both sides.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.requirements import require_enumeration
from metrics.statistics.visit_histogram import VisitHistogram
from metrics.two_sample.coordinates import bandwidth as resolve_bandwidth
from metrics.two_sample.coordinates import level_coordinates
from samplers.hyperparameters import count
from targets.spaces import Discrete

CELLS = 2**22


class FeatureMap:
    """phi on the states of a discrete space, as a product of one complex wave per coordinate.

    Args:
        space: the space of the states.
        levels: the coordinates of each level, ``(levels, axes)``, float64 (`metrics.two_sample.coordinates`).
        features: D.
        sigma: the kernel's bandwidth.
        generator: for W and b; on the CPU, so that every device has the same map.
    """

    def __init__(
        self, space: Discrete, levels: Tensor, features: int, sigma: float, generator: torch.Generator
    ) -> None:
        shape = (features, space.d, levels.shape[-1])
        frequency = torch.randn(shape, generator=generator, dtype=torch.float64) / sigma
        phase = 2 * math.pi * torch.rand(features, generator=generator, dtype=torch.float64)
        angle = torch.einsum("la,fda->dlf", levels, frequency)
        angle[0] += phase
        self.waves = torch.polar(torch.ones_like(angle), angle)
        self.scale = math.sqrt(2 / features)

    def to(self, device: torch.device) -> FeatureMap:
        """Moves the map to `device`."""
        self.waves = self.waves.to(device)
        return self

    def mean(self, weights: Tensor) -> Tensor:
        """sum_x weights[x] phi(x) over all states x, from ``(size,)`` to ``(D,)``."""
        coordinates, levels, features = self.waves.shape
        rows = weights.reshape(-1, levels)
        at_once = max(1, CELLS // len(rows))
        means = []
        for start in range(0, features, at_once):
            waves = self.waves[..., start : start + at_once]
            partial = torch.complex(rows @ waves[-1].real, rows @ waves[-1].imag)
            for coordinate in reversed(range(coordinates - 1)):
                partial = (partial.reshape(-1, levels, partial.shape[-1]) * waves[coordinate]).sum(1)
            means.append(partial[0].real)
        return self.scale * torch.cat(means)


class MMD(Metric):
    """MMD^2 with one shared feature map; the expectation under the target is exact, by enumeration.

    All runs share the map, so that their values are comparable. The random features approximate `mmd_exact`
    with a relative error of about sqrt(2 / D).

    Args:
        features: D.
        bandwidth: sigma (`metrics.two_sample.coordinates.bandwidth` gives the default).
        extent: width of an ordinal coordinate (`metrics.two_sample.coordinates.level_coordinates`).

    Raises:
        UnsupportedMetric: if the target's states cannot be listed.
    """

    name = "mmd"
    unit = "squared distance"
    direction = "min"

    def __init__(
        self,
        context: Context,
        features: int = 1000,
        bandwidth: float | None = None,
        extent: float = 3.0,
    ) -> None:
        super().__init__(context)
        space, self.probabilities = require_enumeration(self.name, context)
        self.features = FeatureMap(
            space,
            level_coordinates(space, extent),
            count("metric.mmd.features", features),
            resolve_bandwidth(space, bandwidth),
            context.generator(self.name),
        ).to(context.device)
        self.visits = context.statistic(VisitHistogram)

    def result(self) -> dict[str, Tensor]:
        gaps = self.visits.frequencies() - self.probabilities
        return {self.name: by_seed(lambda gap: self.features.mean(gap).square().sum(), gaps)}
