"""Random log-quadratic distributions on binary, ordinal and categorical spaces."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from targets.checks import one_of, positive_number, whole_number
from targets.enumeration import enumerated_draws, enumerated_probabilities
from targets.randomness import Generator, derive_seed, normal
from targets.spaces import Binary, Categorical, Discrete, Ordinal
from targets.target import Target
from targets.versions import Versions

SPACES = ("binary", "ordinal", "categorical")


class LogQuadratic(Target):
    """U = x'Wx + b'x with normal W, which is symmetric, and b; x is the state, flattened.

    The gradient 2Wx + b is that of the quadratic function, whose changes by one move it gives only to the
    first order. Small ones, up to some 20 bits, have exact probabilities and draws.

    Spaces: binary, ordinal, categorical.
    Source: Zhang, Liu and Liu (2022), section 5; Rhodes and Gutmann (2022).

    Args:
        space: ``binary``, ``ordinal`` or ``categorical``.
        d: number of coordinates.
        levels: of each of them; 2 on a binary space.
        roughness: standard deviation of b; that of W, before it is made symmetric, is its square over the
            root of the dimension of x. On ordinal spaces both are per level.
        instance_seed: of the coefficients.

    Attributes:
        weight: W, ``(n, n)`` for the dimension n of x.
        bias: b, ``(n,)``.
    """

    batch_invariant = False
    by_seed = ("log_prob", "log_prob_and_grad", "log_prob_and_differences")
    space: Discrete
    weight: Tensor
    bias: Tensor

    def __init__(
        self,
        space: str = "binary",
        d: int = 16,
        levels: int = 2,
        roughness: float = 1.0,
        instance_seed: int = 0,
    ) -> None:
        super().__init__()
        one_of("space", space, SPACES)
        whole_number("d", d)
        whole_number("levels", levels, 2)
        if space == "binary" and levels != 2:
            raise ValueError(f"levels must be 2 for space=binary, {levels} was given")
        kinds = {"binary": Binary, "ordinal": Ordinal, "categorical": Categorical}
        self.space = kinds[space](d, levels)
        weight, bias = quadratic_coefficients(self.space, instance_seed, roughness)
        self._probabilities: Tensor | None = None
        self._made_of = Versions()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)

    def log_prob(self, theta: Tensor) -> Tensor:
        return self._log_prob_and_force(theta)[0]

    @torch.no_grad()
    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and its gradient 2Wx + b, from one matrix product."""
        log_prob, force = self._log_prob_and_force(theta)
        return log_prob, (2.0 * force + self.bias).reshape(theta.shape)

    def _log_prob_and_force(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U, and Wx ``(*batch, n)``."""
        flat = theta.flatten(-len(self.space.event_shape))
        force = flat @ self.weight
        return (flat * (force + self.bias)).sum(-1), force

    def log_prob_and_differences(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and its exact changes by one move; see `targets.target.SingleSiteDifferences`."""
        log_prob, grad = self.log_prob_and_grad(theta)
        own = self.weight.diagonal().reshape(self.space.event_shape)
        if isinstance(self.space, Binary):
            return log_prob, (1.0 - 2.0 * theta) * grad + own
        if isinstance(self.space, Ordinal):
            offset = torch.arange(self.space.levels, device=theta.device) - theta.unsqueeze(-1)
            return log_prob, offset * (grad.unsqueeze(-1) + offset * own.unsqueeze(-1))
        # W_yy + W_xx - 2 W_xy within the block of a coordinate, for a move from x to y.
        d, levels = self.space.event_shape
        site = torch.arange(d, device=theta.device)
        blocks = self.weight.reshape(d, levels, d, levels)[site, :, site]
        across = (theta.unsqueeze(-2) @ blocks).squeeze(-2)
        second = own + (own * theta).sum(-1, keepdim=True) - 2.0 * across
        return log_prob, grad - (grad * theta).sum(-1, keepdim=True) + second

    def probabilities(self) -> Tensor:
        """Exact probabilities of all states, ``(size,)``, float64, for small spaces.

        Raises:
            ValueError: if there are too many states to list.
        """
        if self._probabilities is None or not self._made_of.hold(self):
            self._probabilities, self._made_of = enumerated_probabilities(self), Versions.of(self)
        return self._probabilities

    def sample(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent draws ``(*shape, *event_shape)``, by listing all states.

        Raises:
            ValueError: if there are too many.
        """
        return enumerated_draws(self, self.probabilities(), shape, generator)


def quadratic_coefficients(space: Discrete, seed: int, roughness: float) -> tuple[Tensor, Tensor]:
    """W ``(n, n)`` and b ``(n,)`` of `LogQuadratic`, float64."""
    positive_number("roughness", roughness)
    generator = torch.Generator().manual_seed(
        derive_seed(whole_number("instance_seed", seed, 0), "log-quadratic")
    )
    size = math.prod(space.event_shape)
    scale = roughness / (space.levels - 1) if isinstance(space, Ordinal) else roughness
    like = torch.empty(0, dtype=torch.float64)
    weight = normal(generator, (size,), (size,), like=like) * scale**2 / math.sqrt(size)
    bias = normal(generator, (), (size,), like=like) * scale
    return 0.5 * (weight + weight.T), bias
