"""Random-walk Metropolis on the reals with a step size that can differ from chain to chain and be tuned."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from samplers.hyperparameters import AUTO, positive, within
from samplers.kernel import State, tempered_rise
from samplers.metropolis_hastings import MetropolisHastings
from samplers.tuning.step_size import tuned_alone
from targets.randomness import Generator, normal
from targets.spaces import Space, real_space
from targets.target import Target

WALK_ACCEPTANCE = 0.234
"""Roberts, Gelman and Gilks (1997): what a random walk in many dimensions should accept."""


class GaussianStep:
    """The proposal N(x, s^2 I).

    Args:
        step_size: s, a tensor that broadcasts over the batch axes, in the units of the states.
    """

    needs_gradient = False

    def __init__(self, step_size: Tensor) -> None:
        self.step_size = step_size

    def to(self, like: Tensor) -> GaussianStep:
        """A copy with the dtype and device of `like`."""
        return GaussianStep(self.step_size.to(like))

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
        return self.step_size.unsqueeze(-1) if self.step_size.dim() else self.step_size.to(theta)

    def _log_density(self, squares: Tensor, d: int) -> Tensor:
        return -0.5 * squares - d * (self.step_size.log() + 0.5 * math.log(2 * math.pi))


class GaussianWalk(MetropolisHastings):
    """Metropolis with the proposal N(x, s^2 I), as in STMH's Algorithm 1 (there eta = s^2); one evaluation.

    `RandomWalk` is the same move at one fixed s, and serves discrete spaces too; this one can have another
    s at each temperature and be tuned.

    Args:
        step_size: s, or ``"auto"``: tuned to `acceptance` in a pilot that is not recorded.
        acceptance: the mean acceptance probability that tuning aims at.
    """

    exact = True

    def __init__(self, step_size: float | str = AUTO, acceptance: float = WALK_ACCEPTANCE) -> None:
        self.step_size = positive("step_size", step_size, auto=True)
        self.acceptance = within("acceptance", acceptance, 0.01, 0.99)
        given = self.step_size
        super().__init__(GaussianStep(torch.ones((), dtype=torch.float64) if given is None else given))

    def check(self, target: Target) -> None:
        real_space("gaussian_walk", target.space)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        if self.untuned:
            raise ValueError("step_size of GaussianWalk must be tuned before a run, 'auto' was given")
        return super().init(target, theta, beta)

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        # The proposal is symmetric and cancels.
        return tempered_rise(source.log_prob, destination.log_prob, beta).clamp_(max=0.0)

    def with_step_size(self, step_size: Tensor) -> GaussianWalk:
        """The same kernel at a step size that broadcasts over the batch axes."""
        other = GaussianWalk(1.0, self.acceptance)
        other.step_size, other.proposal = step_size, GaussianStep(step_size)
        return other

    @property
    def untuned(self) -> tuple[str, ...]:
        return () if self.step_size is not None else ("step_size",)

    def tune(self, target: Target, generator: Generator) -> dict[str, Any]:
        return tuned_alone(self, target, generator, self.acceptance)

    def tuned(self, hyperparameters: Mapping[str, Any]) -> GaussianWalk:
        return GaussianWalk(hyperparameters["step_size"], self.acceptance)
