"""Swaps of neighbouring replicas at the times of Poisson processes (ReLD, Eqs. 4 and 5)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor

from samplers.inverse_temperatures import along_first
from samplers.kernel import State, SwapInfo
from samplers.tempering.swaps.swap_round import REPLICA, permutation, permute
from targets.randomness import Generator, uniform


class PoissonSwaps:
    """Each pair of neighbours tries to swap at rate `rho`; a step takes the time `step_size`.

    A pair whose process has an event within a step tries once, with probability 1 - exp(-rho step_size).
    All even pairs go first, then all odd pairs. Every swap leaves the product of the levels invariant.

    Args:
        rho: swap intensity, in attempts per unit of time and pair, a positive scalar tensor.
        step_size: the time of a step, a positive scalar tensor.
    """

    def __init__(self, rho: Tensor, step_size: Tensor) -> None:
        self.event = -torch.expm1(-rho * step_size)

    def to(self, like: Tensor) -> Self:
        """A copy with the dtype and device of `like`."""
        moved = copy.copy(self)
        moved.event = self.event.to(like)
        return moved

    def round(
        self, state: State, log_ratio: Callable[[State], Tensor], generator: Generator
    ) -> tuple[State, SwapInfo]:
        """The swaps of one step.

        Args:
            state: the replicas ``(K + 1, *batch, d)``; its auxiliary `REPLICA` says which one stands where.
            log_ratio: log of the Metropolis ratio of each pair as the replicas stand, ``(K, *batch)``.

        Returns:
            The permuted state and what happened.
        """
        pairs, batch = state.log_prob.shape[0] - 1, state.log_prob.shape[1:]
        # One number decides both: given an event it is uniform below `event`.
        chance = uniform(generator, (pairs, *batch), like=state.log_prob)
        attempted = chance < self.event
        probability = torch.zeros_like(chance)
        accepted = torch.zeros_like(attempted)
        pair = along_first(torch.arange(pairs, device=chance.device), chance.dim())
        for parity in range(min(pairs, 2)):
            turn = pair % 2 == parity
            ratio = log_ratio(state).clamp(max=0.0).exp()
            swapped = turn & (chance < self.event * ratio)
            probability = torch.where(turn, ratio, probability)
            accepted = accepted | swapped
            state = permute(state, permutation(swapped))
        return state, SwapInfo(probability, attempted, accepted, state.aux[REPLICA])
