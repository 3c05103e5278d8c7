"""The Langevin proposal on the reals: one Euler-Maruyama step of the overdamped Langevin diffusion.

The convention here for continuous kernels is the diffusion of ReLD, dX = grad log pi(X) dt + sqrt(2) dW.
A step of length h towards pi^beta is

    y = x + h beta grad U(x) + sqrt(2 h) xi,   xi standard normal,

so q(y | x) is normal with mean x + h beta grad U(x) and variance 2 h in every coordinate. Other authors
use the step size s^2 = 2 h (y = x + (s^2 / 2) grad U + s xi). h is in squared state units.
"""

from __future__ import annotations

import math
from typing import Self

import torch
from torch import Tensor

from samplers.kernel import State
from samplers.moved_copy import moved_copy
from targets.randomness import Generator, normal
from targets.spaces import Space


class LangevinDiffusionProposal:
    """The proposal q above.

    Args:
        step_size: h, a tensor that broadcasts over the batch axes.
    """

    needs_gradient = True

    def __init__(self, step_size: Tensor) -> None:
        self._set_step_size(step_size)

    def _set_step_size(self, step_size: Tensor) -> None:
        self.step_size = step_size
        self._sd = (2.0 * step_size).sqrt()
        self._log_height = -0.5 * (4.0 * math.pi * step_size).log()

    def to(self, like: Tensor) -> Self:
        """A copy whose step size has the dtype and device of `like`."""
        moved = moved_copy(self, like)
        moved._set_step_size(moved.step_size)
        return moved

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        mean = self.mean(state, beta)
        noise = normal(generator, state.log_prob.shape, space.event_shape, like=state.theta)
        theta = torch.addcmul(mean, self._sd.unsqueeze(-1).to(mean), noise)
        return theta, self._log_density(theta, mean)

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        return self._log_density(destination, self.mean(source, beta))

    def mean(self, state: State, beta: Tensor) -> Tensor:
        """x + h beta grad U(x), like theta."""
        assert state.grad is not None
        length = torch.as_tensor(self.step_size * beta)
        return torch.addcmul(state.theta, length.unsqueeze(-1).to(state.theta), state.grad)

    def _log_density(self, destination: Tensor, mean: Tensor) -> Tensor:
        """log N(destination; mean, 2 h I), shape ``(*batch)``."""
        squares = (destination - mean).square_().sum(-1)
        height, spread = self._log_height.to(squares), (4.0 * self.step_size).to(squares)
        return destination.shape[-1] * height - squares / spread
