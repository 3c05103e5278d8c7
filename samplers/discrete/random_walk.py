"""Random-walk Metropolis: a symmetric proposal that does not depend on the target."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from samplers.hyperparameters import positive
from samplers.inverse_temperatures import tempered_log_ratio
from samplers.kernel import State
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.draws.places import whole_numbers
from targets.randomness import Generator, normal, uniform
from targets.spaces import Discrete, Ordinal, Real, Space, discrete_space
from targets.target import Target


class RandomWalkProposal:
    """One coordinate moves to another level; on the reals every coordinate takes a Gaussian step.

    - Ordinal: a coordinate chosen uniformly moves by a uniform offset from ``{-r, .., r}`` without 0, where
      r is the step size. An offset that leaves the space proposes to stay.
    - Binary and categorical: a coordinate chosen uniformly takes another level, uniformly; no step size.
    - Real: y = x + s z with s the step size and z standard normal.

    Args:
        step_size: r or s; None for a tenth of the levels (at least 1) and for 1 on the reals.
    """

    needs_gradient = False

    def __init__(self, step_size: float | None = None) -> None:
        self.step_size = step_size

    def reach(self, space: Ordinal) -> int:
        """The largest offset r on an ordinal space, in levels.

        Raises:
            ValueError: if the step size is not a whole number.
        """
        if self.step_size is None:
            return max(1, space.levels // 10)
        if self.step_size != int(self.step_size):
            raise ValueError(
                f"step_size must be a whole number of levels on ordinal spaces, {self.step_size!r} was given"
            )
        return int(self.step_size)

    def scale(self) -> float:
        """The standard deviation s of a step on the reals."""
        return 1.0 if self.step_size is None else self.step_size

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        batch = state.log_prob.shape
        if isinstance(space, Real):
            noise = normal(generator, batch, space.event_shape, like=state.theta)
            theta = state.theta + self.scale() * noise
        else:
            theta = self._move_one(discrete_space("random_walk", space), state.theta, batch, generator)
        return theta, self.log_prob(space, state, theta, beta)

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        difference = destination - source.theta
        if isinstance(space, Real):
            variance = self.scale() ** 2
            return -0.5 * (difference.square() / variance + math.log(2 * math.pi * variance)).sum(-1)
        discrete = discrete_space("random_walk", space)
        moved = discrete.hamming(source.theta, destination)
        if not isinstance(discrete, Ordinal):
            return _log_where(moved == 1, -math.log(discrete.d * (discrete.levels - 1)), moved)
        reach = self.reach(discrete)
        moves = 2 * reach * discrete.d
        near = (moved == 1) & (difference.abs().amax(-1) <= reach)
        below, above = source.theta, discrete.levels - 1 - source.theta
        inside = (below.clamp(max=reach) + above.clamp(max=reach)).sum(-1)
        stay = ((moves - inside) / moves).log()
        return torch.where(moved == 0, stay, _log_where(near, -math.log(moves), moved))

    def _move_one(self, space: Discrete, theta: Tensor, batch: torch.Size, generator: Generator) -> Tensor:
        draws = uniform(generator, batch, (2,), like=theta)
        coordinate = whole_numbers(draws[..., :1], space.d)
        levels = space.to_levels(theta)
        level = levels.gather(-1, coordinate)
        if isinstance(space, Ordinal):
            reach = self.reach(space)
            rank = whole_numbers(draws[..., 1:], 2 * reach)
            wanted = level + torch.where(rank < reach, rank - reach, rank - reach + 1)
            moved = torch.where((wanted >= 0) & (wanted < space.levels), wanted, level)
        else:
            moved = (level + 1 + whole_numbers(draws[..., 1:], space.levels - 1)) % space.levels
        return space.from_levels(levels.scatter(-1, coordinate, moved), theta.dtype)


class RandomWalk(MetropolisHastings):
    """Metropolis-Hastings with `RandomWalkProposal`; exact, no gradient, one evaluation a step.

    Spaces: binary, ordinal, categorical, real, tours.
    Cost: one evaluation.
    Source: Metropolis et al. (1953).

    Args:
        step_size: largest move in levels on ordinal spaces (a whole number), standard deviation of a step
            on the reals; binary and categorical spaces have no use for it. None, the default, is a tenth
            of the levels (at least 1), and 1 on the reals.
    """

    proposal: RandomWalkProposal
    tensor_step_size = False

    def __init__(self, step_size: float | None = None) -> None:
        if step_size is not None:
            positive("step_size", step_size)
        super().__init__(RandomWalkProposal(step_size))

    def check(self, target: Target) -> None:
        if isinstance(target.space, Ordinal):
            self.proposal.reach(target.space)

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        # q is symmetric and cancels; so do the minus infinities of moves that are never proposed.
        return tempered_log_ratio(source.log_prob, destination.log_prob, beta).clamp(max=0.0)


def _log_where(mask: Tensor, value: float, like: Tensor) -> Tensor:
    """`value` where `mask` holds, minus infinity elsewhere, with the dtype of `like`."""
    return torch.full_like(like, value).masked_fill(~mask, -torch.inf)
