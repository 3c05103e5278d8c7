"""Random-walk Metropolis on the reals with a step size that can differ from chain to chain and be tuned."""

from __future__ import annotations

import math
from typing import Self

import torch
from torch import Tensor

from samplers.hyperparameters import positive
from samplers.inverse_temperatures import tempered_log_ratio
from samplers.kernel import State
from samplers.metropolis_hastings import MetropolisHastings
from samplers.moved_copy import moved_copy
from targets.randomness import Generator, normal
from targets.spaces import Space, real_space
from targets.target import Target


class GaussianStep:
    """The proposal N(x, s^2 I).

    Args:
        step_size: s, a tensor that broadcasts over the batch axes, in the units of the states.
    """

    needs_gradient = False

    def __init__(self, step_size: Tensor) -> None:
        self.step_size = step_size

    def to(self, like: Tensor) -> Self:
        """A copy with the dtype and device of `like`."""
        return moved_copy(self, like)

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        noise = normal(generator, state.log_prob.shape, space.event_shape, like=state.theta)
        theta = torch.addcmul(state.theta, self._wide(noise), noise)
        return theta, self._log_density(noise.square().sum(-1), space.d)

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        noise = (destination - source.theta) / self._wide(destination)
        return self._log_density(noise.square().sum(-1), space.d)

    def _wide(self, theta: Tensor) -> Tensor:
        return (self.step_size.unsqueeze(-1) if self.step_size.dim() else self.step_size).to(theta)

    def _log_density(self, squares: Tensor, d: int) -> Tensor:
        return -0.5 * squares - d * (self.step_size.log().to(squares) + 0.5 * math.log(2 * math.pi))


class GaussianWalk(MetropolisHastings):
    """Metropolis with the proposal N(x, s^2 I), as in STMH's Algorithm 1 (there eta = s^2); one evaluation.

    `RandomWalk` is the same move at one fixed s, and serves discrete spaces too; this one can have another
    s at each temperature and be tuned. Tuning aims at an acceptance of 0.234, optimal in high dimension
    (Roberts, Gelman and Gilks 1997).

    Spaces: real.
    Cost: one evaluation.
    Source: STMH, Algorithm 1.

    Args:
        step_size: s; a number, or a tensor that broadcasts over the batch axes.
    """

    exact = True
    optimal_acceptance = 0.234

    def __init__(self, step_size: float | Tensor) -> None:
        self.step_size = positive("step_size", step_size)
        super().__init__(GaussianStep(self.step_size))

    def check(self, target: Target) -> None:
        real_space("gaussian_walk", target.space)

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        # The proposal is symmetric and cancels.
        return tempered_log_ratio(source.log_prob, destination.log_prob, beta).clamp_(max=0.0)
