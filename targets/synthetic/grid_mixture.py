"""Mixtures of equal radial bumps on the 101 x 101 grid: the synthetic targets of PT-DLP, section F.1."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import hardshrink

from targets.spaces import Ordinal
from targets.synthetic.tabulated import Tabulated, look_up

LEVELS = 101
SPACING = 3 / 100
"""Distance between neighbouring grid states in the coordinate u = 3 i / 100 - 1.5."""

ENERGIES = ("paper", "log", "released")
"""What U is: the log mixture density, the log of the released bumps, or the released bumps themselves."""


class Bump(Protocol):
    """A radial function of the coordinate u, given by its logarithm."""

    def __call__(self, distance: Tensor) -> Tensor:
        """Log height at a `distance` from the centre, elementwise."""


def grid_coordinates(theta: Tensor) -> Tensor:
    """The coordinate u = 3 i / 100 - 1.5 of grid positions i, elementwise; also between grid states."""
    return theta * SPACING - 1.5


class GridMixture(Tabulated):
    """U = log of the sum of equal bumps (or the sum itself), tabulated on ``Ordinal(2, 101)``.

    The modes are the grid states nearest to the centres; for a centre outside the square, a state on its
    edge. Gradients are per grid unit, so they include the factor du/di = 0.03. Both tables are computed by
    one float64 evaluation of `mixture_energy` at construction.

    Args:
        centres: centres of the bumps in the coordinate u, ``(modes, 2)``, float64.
        bump: log height of one bump as a function of the distance from its centre.
        log_weight: logarithm of the weight that all bumps share.
        logarithm: whether U is the log of the weighted sum; otherwise it is the sum.
        kernel: the bump whose normalised heights are the responsibilities; `bump` by default, which for
            ``logarithm=True`` gives the posterior p(component | theta).
    """

    modes: Tensor
    _responsibilities: Tensor
    _mode_weight_bits: Tensor

    def __init__(
        self,
        centres: Tensor,
        bump: Bump,
        *,
        log_weight: float,
        logarithm: bool,
        kernel: Bump | None = None,
    ) -> None:
        space = Ordinal(2, LEVELS)
        with torch.inference_mode(mode=False), torch.enable_grad():
            theta = space.states().requires_grad_(True)
            log_prob = mixture_energy(theta, centres, bump, log_weight, logarithm)
            (grad,) = torch.autograd.grad(log_prob.sum(), theta)
        super().__init__(space, log_prob, grad)
        self.centres = centres
        self.bump = bump
        self.log_weight = log_weight
        self.logarithm = logarithm

        heights = (kernel or bump)(distances(theta.detach(), centres))
        responsibilities = heights.softmax(-1)
        weights = self.probabilities() @ responsibilities
        nearest = ((centres + 1.5) / SPACING).round().clamp(0, LEVELS - 1)
        self.register_buffer("modes", nearest)
        self.register_buffer("_responsibilities", responsibilities)
        self.register_buffer("_mode_weight_bits", weights.view(torch.int64))

    def continuous_log_prob(self, theta: Tensor) -> Tensor:
        """U at real grid positions ``(*batch, 2)``, float64 on the CPU: the formula of the tables."""
        return mixture_energy(theta, self.centres, self.bump, self.log_weight, self.logarithm)

    def responsibilities(self, theta: Tensor) -> Tensor:
        """p(mode | theta) under equal weights, shape ``(*batch, modes)``, summing to one over the modes."""
        return look_up(self._responsibilities, self.space.index(theta))

    def mode_weights(self) -> Tensor:
        """Expected responsibility of each mode under the target, shape ``(modes,)``, float64."""
        return self._mode_weight_bits.view(torch.float64)


def distances(theta: Tensor, centres: Tensor) -> Tensor:
    """Euclidean distances in u from grid positions ``(*batch, 2)`` to `centres`, ``(*batch, modes)``.

    At a centre, where the distance is not differentiable, the gradient is 0.
    """
    offsets = grid_coordinates(theta).unsqueeze(-2) - centres
    # At a centre, rounding errors of 1e-16 would otherwise give an arbitrary unit vector as gradient.
    norms: Tensor = torch.linalg.vector_norm(hardshrink(offsets, 1e-12), dim=-1)
    return norms


def mixture_energy(theta: Tensor, centres: Tensor, bump: Bump, log_weight: float, logarithm: bool) -> Tensor:
    """U at grid positions ``(*batch, 2)``, whole or not, shape ``(*batch)``; see `GridMixture`."""
    heights: Tensor = bump(distances(theta, centres))
    log_sum = heights.logsumexp(-1) + log_weight
    return log_sum if logarithm else log_sum.exp()
