"""Squared maximum mean discrepancy to the target: by random Fourier features, and in closed form.

Every coordinate of a state is embedded separately, so a Gaussian kernel on states is a product of one kernel
per coordinate, and a random Fourier feature is a product of one complex wave per coordinate.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metrics.metric import Context, UnsupportedMetric, by_seed
from metrics.statistics.closed_form import expected
from metrics.statistics.visit_histogram import FrequencyMetric
from samplers.hyperparameters import positive
from samplers.reference.reference_draws import ExactDraws
from targets.checks import whole_number
from targets.spaces import Discrete, Ordinal

CELLS = 2**22
MOST_FEATURES = 2**27
"""Features of all states together; with more, one measurement takes many seconds."""

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


def kernel_bandwidth(space: Discrete, given: float | None = None) -> float:
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


class FeatureMap:
    """phi on the states of a discrete space, as a product of one complex wave per coordinate.

    phi(u) = sqrt(2 / D) cos(W u + b), W_ij ~ N(0, 1 / sigma^2), b_i uniform on [0, 2 pi] (Rahimi and Recht
    2007).

    Args:
        space: the space of the states.
        levels: the coordinates of each level, ``(levels, axes)``, float64 (`level_coordinates`).
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


class MMD(FrequencyMetric):
    """MMD^2 with one shared feature map; the expectation under the target is exact, by enumeration.

    MMD^2 = |mean phi(draws) - E_pi phi|^2 with one and the same phi(u) = sqrt(2 / D) cos(W u + b), W_ij ~
    N(0, 1 / sigma^2), b_i uniform on [0, 2 pi], on both sides (Rahimi and Recht 2007; PT-DLP v2, F.1). All
    runs share the map, so that their values are comparable. The random features approximate `mmd_exact` with
    a relative error of about sqrt(2 / D).

    Args:
        features: D.
        bandwidth: sigma (`kernel_bandwidth` gives the default).
        extent: width of an ordinal coordinate (`level_coordinates`).
    """

    name = "mmd"
    unit = "squared distance"
    bounds = (0.0, math.inf)
    direction = "min"

    def __init__(
        self,
        context: Context,
        features: int = 1000,
        bandwidth: float | None = None,
        extent: float = 3.0,
    ) -> None:
        super().__init__(context)
        features = whole_number("metric.mmd.features", features)
        if features * self.space.size > MOST_FEATURES:
            most = MOST_FEATURES // self.space.size
            fewer = f", or at most {most:,} features" if most else ""
            raise UnsupportedMetric(
                f"mmd with {features:,} features of each of {self.space.size:,} states takes many seconds at "
                f"each measurement; use mmd_exact{fewer}"
            )
        self.features = FeatureMap(
            self.space,
            level_coordinates(self.space, extent),
            features,
            kernel_bandwidth(self.space, bandwidth),
            context.generator(self.name),
        ).to(context.device)

    def result(self) -> dict[str, Tensor]:
        return {self.name: by_seed(lambda gap: self.features.mean(gap).square().sum(), self.gaps())}


class MMDExact(FrequencyMetric):
    """MMD^2 between visit frequencies and target under the Gaussian kernel exp(-|u - v|^2 / (2 sigma^2)).

    p'Kp + q'Kq - 2 p'Kq = (q - p)' K (q - p), of mean (1 - p'Kp) / N for N independent draws from the target.
    The kernel is a product over coordinates, so K is applied one coordinate at a time (K1 P K1 on a
    two-dimensional grid) and never stored.

    Where the kernel draws independently from the target that mean is known, and reported as
    `mmd_exact_expected`: the row of exact draws in a table needs no average over seeds.

    Args:
        bandwidth: sigma (`kernel_bandwidth` gives the default).
        extent: width of an ordinal coordinate (`level_coordinates`).
    """

    name = "mmd_exact"
    unit = "squared distance"
    bounds = (0.0, math.inf)
    direction = "min"

    def __init__(self, context: Context, bandwidth: float | None = None, extent: float = 3.0) -> None:
        super().__init__(context)
        levels = level_coordinates(self.space, extent).to(context.device)
        self.kernel = gaussian_kernel(levels, kernel_bandwidth(self.space, bandwidth))
        self.independent = isinstance(context.kernel, ExactDraws)

    def result(self) -> dict[str, Tensor]:
        found = {self.name: by_seed(lambda gap: quadratic_form(self.kernel, gap, self.space.d), self.gaps())}
        if self.independent:
            self_similarity = quadratic_form(self.kernel, self.probabilities, self.space.d)
            found[expected(self.name)] = (1.0 - self_similarity) / self.visits.draws.squeeze(-1)
        return found


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
