"""The path from a reference distribution to a target that every kind of tempering walks along."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor


class Reference(Protocol):
    """A distribution p0 whose log density is known in closed form."""

    def log_prob(self, theta: Tensor) -> Tensor:
        """log p0, ``(*batch)``."""
        ...

    def grad(self, like: Tensor) -> Tensor:
        """The gradient of log p0, broadcasting to `like`."""
        ...


class TemperedPath:
    """log f_beta(x) = log p0(x) + beta [U(x) - log p0(x)] for beta from 0 to 1.

    Without a reference distribution p0 is flat and log f_beta = beta U: the ladders of parallel and simulated
    tempering. Annealed importance sampling starts from a normalised p0. Whatever tempering does needs the
    derivative of log f_beta in beta alone, the slope U - log p0, which does not depend on beta: what a
    state caches, U and its gradient, serves at every inverse temperature.

    Args:
        reference: p0; None where it is flat.
    """

    def __init__(self, reference: Reference | None = None) -> None:
        self.reference = reference

    def log_density(self, theta: Tensor, log_prob: Tensor, beta: Tensor | float) -> Tensor:
        """log f_beta ``(*batch)`` at `theta`, of which U is given; float64 with a reference distribution."""
        if self.reference is None:
            return beta * log_prob
        base = self.reference.log_prob(theta)
        return base + beta * (log_prob.double() - base)

    def grad(self, grad: Tensor, beta: Tensor | float) -> Tensor:
        """The gradient of log f_beta from that of U; `beta` broadcasts to it."""
        if self.reference is None:
            return beta * grad
        base = self.reference.grad(grad)
        return base + beta * (grad - base)

    @staticmethod
    def log_move_ratio(slope: Tensor, change: Tensor | float) -> Tensor:
        """log f_beta'(x) - log f_beta(x) ``(*batch)``, where `change` is beta' - beta."""
        return change * slope

    @staticmethod
    def log_swap_ratio(slopes: Tensor, betas: Tensor) -> Tensor:
        """log of f_k(y) f_{k+1}(x) / (f_k(x) f_{k+1}(y)) for neighbours x, y, ``(K - 1, *batch)``.

        Args:
            slopes: of the replicas, ``(K, *batch)``.
            betas: ``(K, 1, ..)``, broadcasting to them.
        """
        return (betas[:-1] - betas[1:]) * (slopes[1:] - slopes[:-1])
