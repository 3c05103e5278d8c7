"""The discrete Langevin proposal with settings that go round in a cycle."""

from __future__ import annotations

import math
from typing import Self

from torch import Tensor

from samplers.kernel import State
from samplers.moved_copy import moved_copy
from samplers.proposals.discrete_langevin import LangevinProposal
from targets.randomness import Generator
from targets.spaces import Space

POSITION = "position"
"""Key in ``State.aux`` of the position in the cycle, an int64 scalar."""


def cosine_steps(step_size: float, min_step_size: float, cycle_length: int) -> list[float]:
    """max(alpha_min, (alpha_max / 2) (1 + cos(pi i / s))) for the positions i = 0 .. s - 1 of a cycle."""
    cosine = [0.5 * step_size * (1.0 + math.cos(math.pi * i / cycle_length)) for i in range(cycle_length)]
    return [max(min_step_size, value) for value in cosine]


class CyclicalLangevin:
    """The discrete Langevin proposal with the settings of the position that ``State.aux`` says.

    Args:
        step_sizes: alpha at each position of the cycle, ``(s,)``.
        balancings: b at each position, ``(s,)``.
    """

    needs_gradient = True

    def __init__(self, step_sizes: Tensor, balancings: Tensor) -> None:
        self.step_sizes = step_sizes
        self.balancings = balancings

    def to(self, like: Tensor) -> Self:
        """A copy whose schedule has the dtype and device of `like`."""
        return moved_copy(self, like)

    def at(self, position: Tensor) -> LangevinProposal:
        """The proposal at `position`, an int64 scalar; looked up without leaving the device."""
        return LangevinProposal(self.step_sizes.gather(0, position), self.balancings.gather(0, position))

    def constant(self) -> LangevinProposal | None:
        """The proposal of all positions, if their settings are the same; not of a subclass."""
        settings = (self.step_sizes, self.balancings)
        same = type(self) is CyclicalLangevin and all(bool((each == each[0]).all()) for each in settings)
        return LangevinProposal(self.step_sizes[0], self.balancings[0]) if same else None

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        return self.at(state.aux[POSITION]).propose(space, state, beta, generator)

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        return self.at(source.aux[POSITION]).log_prob(space, source, destination, beta)
