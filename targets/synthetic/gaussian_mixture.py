"""Mixtures of Gaussians on the reals: any weights, means and covariances, all in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from targets.checks import positive_number
from targets.randomness import Generator, normal, uniform
from targets.spaces import Real
from targets.synthetic.covariances import covariances, table
from targets.target import Target

ROUNDING = 1e-6
"""Tolerance of the sum of the weights, which are then normalised."""


class GaussianMixture(Target):
    """U(theta) = log sum_k w_k N(theta; mu_k, Sigma_k), normalised: log Z is 0 at beta = 1.

    `modes` are the means of the components, which are the modes up to rounding if the components are well
    separated; `responsibilities` are the posterior p(k | theta).

    Spaces: real.

    Args:
        means: mu, ``(components, d)``.
        weights: w, positive numbers that sum to one; None for equal weights.
        covariance: Sigma: a variance shared by all components or one for each (Sigma_k = c_k I), or a matrix
            ``(d, d)`` shared by all or one for each ``(components, d, d)``. Variances are fastest.
        start: the point ``(d,)`` at which every chain starts; None for normal starts around the origin.
        start_scale: standard deviation of those normal starts, in every coordinate.

    Raises:
        ValueError: if the shape of weights, covariance or start does not match the means, the weights are not
            positive or do not sum to one, or a covariance is not positive definite.
    """

    space: Real
    means: Tensor
    modes: Tensor
    _log_height: Tensor
    _whiten: Tensor
    _factor: Tensor
    _cumulative: Tensor
    _start: Tensor | None

    def __init__(
        self,
        means: Sequence[Sequence[float]] | Tensor,
        weights: Sequence[float] | Tensor | None = None,
        covariance: Any = 1.0,
        start: Sequence[float] | Tensor | None = None,
        start_scale: float = 1.0,
    ) -> None:
        super().__init__()
        points = table("means", means)
        if points.dim() != 2 or points.numel() == 0:
            raise ValueError(
                f"means must be a list of points, each a list of coordinates, {means!r} was given"
            )
        components, d = points.shape
        shares = _shares(weights, components)
        spread = covariances(covariance, components, d)
        origin = None if start is None else table("start", start)
        if origin is not None and origin.shape != (d,):
            raise ValueError(f"start must have {d} coordinates, as the means have, {start!r} was given")
        self.space = Real(d)
        self.start_scale = positive_number("start_scale", start_scale)
        self.isotropic = spread.dim() == 1
        # The rounding of a matrix product depends on the size of the batch.
        self.batch_invariant = self.isotropic
        if self.isotropic:
            factor = spread.sqrt().unsqueeze(-1)
            whiten, log_volume = 1.0 / factor, d * factor.squeeze(-1).log()
        else:
            factor = torch.linalg.cholesky(spread)
            whiten = torch.linalg.solve_triangular(factor, torch.eye(d).to(factor), upper=False)
            log_volume = factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        # In float64 whatever the dtype of the target is.
        self._exact = {"weights": shares, "means": points, "spread": spread}
        self.register_buffer("means", points)
        self.register_buffer("modes", points.clone())
        self.register_buffer("_log_height", shares.log() - log_volume - 0.5 * d * math.log(2 * math.pi))
        self.register_buffer("_whiten", whiten)
        self.register_buffer("_factor", factor.expand(components, *factor.shape[1:]).clone())
        self.register_buffer("_cumulative", shares.cumsum(0)[:-1])
        self.register_buffer("_start", origin)

    def log_prob(self, theta: Tensor) -> Tensor:
        return self._components(theta)[0].logsumexp(-1)

    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        components, offsets = self._components(theta)
        log_prob = components.logsumexp(-1)
        shares = (components - log_prob.unsqueeze(-1)).exp_()
        # The gradient of a component is -Sigma^-1 (theta - mu), and Sigma^-1 is whiten^T whiten.
        if self.isotropic:
            pulls = offsets.mul_(self._whiten)
        else:
            pulls = (self._whiten.mT @ offsets.unsqueeze(-1)).squeeze(-1)
        return log_prob, pulls.mul_(shares.unsqueeze(-1)).sum(-2).neg_()

    def responsibilities(self, theta: Tensor) -> Tensor:
        """p(k | theta), shape ``(*batch, components)``, summing to one over the last axis."""
        return self._components(theta)[0].softmax(-1)

    def mode_weights(self) -> Tensor:
        """The weights w ``(components,)``, float64."""
        return self._exact["weights"].to(self.means.device)

    def initial(self, shape: Sequence[int], generator: Generator) -> Tensor:
        if self._start is not None:
            return self._start.expand(*shape, self.space.d).clone()
        return normal(generator, shape, self.space.event_shape, like=self.like(), std=self.start_scale)

    def sample(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent draws ``(*shape, d)``: first a component by its weight, then a point from it."""
        point = uniform(generator, shape, like=self.means)
        component = (point.unsqueeze(-1) >= self._cumulative).sum(-1)
        noise = normal(generator, shape, self.space.event_shape, like=self.means)
        factor = self._factor[component]
        moved = factor * noise if self.isotropic else (factor @ noise.unsqueeze(-1)).squeeze(-1)
        return self.means[component] + moved

    def mean(self) -> Tensor:
        """Mean of the whole mixture ``(d,)``, float64 on the CPU."""
        return self._exact["weights"] @ self._exact["means"]

    def covariance(self) -> Tensor:
        """Covariance of the whole mixture ``(d, d)``, float64 on the CPU: within and between components."""
        weights, offsets = self._exact["weights"], self._exact["means"] - self.mean()
        spread = self._exact["spread"]
        matrices = spread.reshape(-1, 1, 1) * torch.eye(self.space.d) if self.isotropic else spread
        within = (weights.reshape(-1, 1, 1) * matrices.double()).sum(0)
        return within + (offsets.mT * weights) @ offsets

    def eigenvalues(self) -> Tensor:
        """Eigenvalues of each component's covariance ``(components, d)``, float64 on the CPU."""
        spread = self._exact["spread"]
        if self.isotropic:
            return spread.unsqueeze(-1).expand(len(self.means), self.space.d)
        values: Tensor = torch.linalg.eigvalsh(spread)
        return values.expand(len(self.means), self.space.d)

    def _components(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """log w_k N(theta; mu_k, Sigma_k) ``(*batch, components)``, and L_k^-1 (theta - mu_k)."""
        offsets = theta.unsqueeze(-2) - self.means
        if self.isotropic:
            offsets = offsets * self._whiten
        else:
            offsets = (self._whiten @ offsets.unsqueeze(-1)).squeeze(-1)
        return self._log_height - 0.5 * offsets.square().sum(-1), offsets


def _shares(given: Sequence[float] | Tensor | None, components: int) -> Tensor:
    """The weights ``(components,)``, float64, summing to one."""
    if given is None:
        return torch.full((components,), 1.0 / components, dtype=torch.float64)
    weights = table("weights", given)
    if weights.shape != (components,):
        raise ValueError(
            f"weights must be {components} numbers, one for each of the means, {given!r} was given"
        )
    if not bool((weights > 0).all()) or abs(float(weights.sum()) - 1.0) > ROUNDING:
        raise ValueError(f"weights must be positive numbers that sum to one, {given!r} was given")
    return weights / weights.sum()
