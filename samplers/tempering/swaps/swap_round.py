"""A round of swaps along the replica axis, done by permuting indices."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from samplers.hyperparameters import one_of, within
from samplers.kernel import State, SwapInfo, along_first
from samplers.tempering.path import TemperedPath
from samplers.tempering.swaps.swap_pairings import PAIRINGS
from samplers.tempering.swaps.swap_rules import RULES, SwapEnergies, SwapRule, log_swap_ratio
from targets.randomness import Generator, uniform
from targets.target import Target


class Swaps:
    """Which neighbours meet (`pairing`), and whether they swap (`rule`).

    Args:
        rule: metropolis, history, history_exact, corrected, v1_literal or released
            (`samplers.tempering.swaps.swap_rules`).
        pairing: odd_even, stochastic or sequential (`samplers.tempering.swaps.swap_pairings`).
        intensity: rho in [0, 1], multiplies every swap probability.
        shared_uniform: whether one uniform number serves all pairs of a sweep, as v1's Algorithm 1 prints
            it (settings I, row 8); not exact.
    """

    def __init__(
        self,
        rule: str = "metropolis",
        pairing: str = "odd_even",
        intensity: float = 1.0,
        shared_uniform: bool = False,
    ) -> None:
        self.rule: SwapRule = RULES[one_of("swap.rule", rule, RULES)]()
        self.pairing = PAIRINGS[one_of("swap.pairing", pairing, PAIRINGS)]()
        self.intensity = within("swap.intensity", intensity, 0.0, 1.0)
        if not isinstance(shared_uniform, bool):
            raise ValueError(f"swap.shared_uniform must be true or false, {shared_uniform!r} was given")
        if rule == "released" and pairing != "sequential":
            raise ValueError(
                "swap.rule=released keeps energies from pair to pair and needs swap.pairing=sequential, "
                f"{pairing!r} was given"
            )
        self.shared_uniform = shared_uniform

    @property
    def exact(self) -> bool:
        """Whether a round leaves the product of the tempered targets invariant."""
        return self.rule.exact and not self.shared_uniform

    def round(
        self,
        target: Target,
        before: State,
        after: State,
        betas: Tensor,
        step_sizes: Tensor | None,
        turn: Tensor,
        replica: Tensor,
        memory: Tensor,
        generator: Generator,
    ) -> tuple[State, SwapInfo, Tensor]:
        """One round of swaps.

        Args:
            before, after: the replicas ``(K, *batch, ...)`` before and after their local moves.
            betas: ``(K, 1, ...)``.
            step_sizes: alpha of each rung, like `betas`, for the rules that need them.
            turn: number of the round, int64 scalar.
            replica: which replica stands on each rung, int64 ``(K, *batch)``.
            memory: energies of the previous sweep by rung, ``(K, *batch)``; used by `released` only.

        Returns:
            The permuted state, what happened, and the new memory.
        """
        energies = after.log_prob
        rungs, batch = energies.shape[0], energies.shape[1:]
        swap_energies = self.rule.energies(target, before, after, betas, generator)
        plain = TemperedPath.log_swap_ratio(energies, betas)
        probability = plain.clamp(max=0.0).exp()
        meets = self.pairing.meeting(rungs, batch, turn, generator).expand(rungs - 1, *batch)
        draws = 1 if self.shared_uniform else rungs - 1
        chance = uniform(generator, (draws, *batch), like=energies).expand(rungs - 1, *batch)
        inverse = None if step_sizes is None else step_sizes.reciprocal()
        if self.pairing.sequential:
            order, accepted, memory = self._one_by_one(
                swap_energies, energies, betas, inverse, chance, memory
            )
        else:
            ratio = log_swap_ratio(self.rule, swap_energies, slice(None, -1), slice(1, None), betas, inverse)
            accepted = meets & (chance < self.intensity * ratio.exp())
            order = permutation(accepted)
        info = SwapInfo(probability, meets, accepted, replica.gather(0, order))
        return permute(after, order), info, memory

    def _one_by_one(
        self,
        swap_energies: SwapEnergies,
        energies: Tensor,
        betas: Tensor,
        inverse_step_sizes: Tensor | None,
        chance: Tensor,
        memory: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The pairs from cold to hot, each with the replicas that the pair before has left there."""
        rungs = energies.shape[0]
        order = torch.arange(rungs, device=energies.device)
        order = along_first(order, energies.dim()).expand_as(energies).clone()
        accepted = torch.empty_like(energies[1:], dtype=torch.bool)
        memory = memory.clone() if self.rule.remembers else memory
        for k in range(rungs - 1):
            pair = order[k : k + 2]
            here = SwapEnergies(
                swap_energies.energy.gather(0, pair),
                None if swap_energies.length is None else swap_energies.length.gather(0, pair),
                None if swap_energies.variance is None else swap_energies.variance.gather(0, pair),
            )
            if self.rule.remembers:
                current = here.energy
                here = replace(here, energy=current + memory[k : k + 2])
                memory[k : k + 2] = current
            inverse = None if inverse_step_sizes is None else inverse_step_sizes[k : k + 2]
            ratio = log_swap_ratio(self.rule, here, slice(0, 1), slice(1, 2), betas[k : k + 2], inverse)[0]
            accepted[k] = chance[k] < self.intensity * ratio.exp()
            order[k : k + 2] = torch.where(accepted[k], pair.flip(0), pair)
        return order, accepted, memory


def permutation(accepted: Tensor) -> Tensor:
    """Index permutation ``(K, *batch)`` of disjoint accepted swaps ``(K - 1, *batch)``."""
    rungs = accepted.shape[0] + 1
    order = along_first(torch.arange(rungs, device=accepted.device), accepted.dim())
    order = order.expand(rungs, *accepted.shape[1:]).clone()
    order[:-1] += accepted
    order[1:] -= accepted.long()
    return order


def permute(state: State, order: Tensor) -> State:
    """The replicas of `state` in a new order ``(K, *batch)`` along the first axis.

    What belongs to theta moves with it: the log density, the gradient, and of a kernel's own tensors those
    that have the batch's axes.
    """
    number = order[0].numel()
    rows = torch.add(torch.arange(number, device=order.device), order.reshape(-1, number), alpha=number)
    rows = rows.flatten()

    def moved(values: Tensor) -> Tensor:
        if values.dim() == order.dim():
            return values.gather(0, order)
        # Whole rows: a gather would look up every coordinate.
        return values.reshape(len(rows), -1).index_select(0, rows).reshape(values.shape)

    aux = {
        name: moved(value) if value.shape[: order.dim()] == order.shape else value
        for name, value in state.aux.items()
    }
    return State(
        theta=moved(state.theta),
        log_prob=moved(state.log_prob),
        grad=None if state.grad is None else moved(state.grad),
        aux=aux,
    )
