"""Locally balanced proposals (Zanella 2020): moves are weighed by a function of the ratio of densities."""

from __future__ import annotations

import torch
from torch import Tensor

from samplers.informed.path_kernel import PathKernel
from samplers.kernel import State
from samplers.proposals.balancing_functions import BalancingFunction
from targets.checks import whole_number
from targets.randomness import Generator
from targets.spaces import level_space
from targets.target import Target


class LocallyBalanced(PathKernel):
    """Moves one coordinate, or several distinct ones, in proportion to g(pi(y) / pi(x)); exact.

    The pointwise informed proposal with g(t) = t g(1/t), accepted by Metropolis-Hastings. With more than one
    of `sites` they are drawn one after the other from the weights at x without replacement, and accepted
    against the reversed order. With ``balancing_function=sqrt differences=gradient`` and one site the moves
    are those of GWG.

    On two levels a move is a flip: an even number of `sites` never leaves the states with the start's parity,
    and as many as coordinates only go to and fro. Both are refused.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: Zanella (2020), the pointwise informed proposals that are locally balanced, as in Pynadath et al.
        (2024), Eq. 1; of several sites: Sun, Dai and Schuurmans (2022), Eqs. 4 and 5.

    Args:
        balancing_function: g: ``sqrt``, ``barker`` t / (1 + t), ``min``, ``max``, or the path of a function
            of log t that gives log g(t).
        sites: how many coordinates move in a step; on two levels 1, or odd and below the dimension.
        differences: ``exact``, ``gradient``, or ``auto``: exact where the target has them.
    """

    def __init__(
        self,
        balancing_function: str | BalancingFunction = "sqrt",
        sites: int = 1,
        differences: str = "auto",
    ) -> None:
        self.sites = whole_number("sites", sites)
        # A single move is drawn by one random number instead of one for each coordinate.
        super().__init__(balancing_function, differences, replacement=self.sites == 1)

    def check(self, target: Target) -> None:
        super().check(target)
        if self.sites > target.space.d:
            raise ValueError(f"sites must be at most {target.space.d}, the dimension, {self.sites} was given")
        space = level_space(type(self).__name__, target.space)
        stuck = self.sites % 2 == 0 or self.sites == space.d
        if space.levels == 2 and self.sites > 1 and stuck:
            raise ValueError(
                f"sites must be 1, or odd and below {space.d}, the dimension, on spaces of two levels, where "
                f"flips of {self.sites} at once do not reach all states, {self.sites} was given"
            )

    def longest(self, d: int) -> int:
        return self.sites

    def lengths(self, state: State, d: int, generator: Generator) -> Tensor:
        return torch.full((), self.sites, device=state.theta.device)

    def length_probabilities(self, d: int) -> list[float]:
        return [0.0] * (self.sites - 1) + [1.0]
