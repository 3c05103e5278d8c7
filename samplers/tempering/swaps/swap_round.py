"""A round of swaps along the replica axis, done by permuting indices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from samplers.choice import of_chains
from samplers.inverse_temperatures import along_first
from samplers.kernel import State, SwapInfo
from samplers.tempering.path import TemperedPath
from samplers.tempering.swaps.swap_pairings import PAIRINGS
from samplers.tempering.swaps.swap_rules import (
    RULES,
    PairFactors,
    Rungs,
    SwapEnergies,
    SwapRule,
    log_pair_ratio,
    log_swap_ratio,
)
from targets.checks import one_of, within
from targets.compiling.tracing import stored
from targets.randomness import Generator, uniform
from targets.target import Target

OWN = "tempering."
"""How the names of the auxiliaries begin that belong to tempering and not to the kernel inside."""

REPLICA, TURN, MEMORY = f"{OWN}replica", f"{OWN}turn", f"{OWN}memory"


@dataclass(frozen=True, slots=True)
class SwapMemory:
    """What a ladder of K remembers from round to round; an auxiliary of its state each.

    Attributes:
        turn: number of the round, int64 scalar.
        replica: which replica stands on each rung, int64 ``(K, *batch)``.
        memory: energies of the previous round by rung, ``(K, *batch)``; used by `released` only.
    """

    turn: Tensor
    replica: Tensor
    memory: Tensor

    @classmethod
    def start(cls, log_prob: Tensor) -> Self:
        """Before the first round, for replicas of these log densities ``(K, *batch)``."""
        turn = torch.zeros((), dtype=torch.int64, device=log_prob.device)
        return cls(turn, replica_labels(log_prob), log_prob)

    @classmethod
    def of(cls, state: State) -> Self:
        """What `into` has put into `state`."""
        return cls(state.aux[TURN], state.aux[REPLICA], state.aux[MEMORY])

    def into(self, state: State) -> State:
        """`state` with this among its auxiliaries."""
        own = {REPLICA: self.replica, TURN: self.turn, MEMORY: self.memory}
        return State(state.theta, state.log_prob, state.grad, {**state.aux, **own})


class Swaps:
    """Which neighbours meet (`pairing`), and whether they swap (`rule`).

    Args:
        rule: metropolis, history, history_exact, corrected, v1_literal or released
            (`samplers.tempering.swaps.swap_rules`).
        pairing: odd_even, stochastic or sequential (`samplers.tempering.swaps.swap_pairings`).
        intensity: rho in [0, 1], multiplies every swap probability.
        shared_uniform: whether one uniform number serves all pairs of a round, as v1's Algorithm 1 prints
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
        ladder: Rungs,
        past: SwapMemory,
        generator: Generator,
    ) -> tuple[State, SwapInfo, SwapMemory]:
        """One round of swaps.

        Args:
            before, after: the replicas ``(K, *batch, ...)`` before and after their local moves.
            ladder: for states of these batch axes.
            past: what the round before has left.

        Returns:
            The permuted state, what happened, and what to remember.
        """
        energies = after.log_prob
        rungs, batch = energies.shape[0], energies.shape[1:]
        swap_energies = self.rule.energies(target, before, after, ladder.betas, generator)
        probability = TemperedPath.log_swap_ratio(energies, ladder.betas).clamp(max=0.0).exp()
        meets = self.pairing.meeting(rungs, batch, past.turn, generator).expand(rungs - 1, *batch)
        draws = 1 if self.shared_uniform else rungs - 1
        chance = uniform(generator, (draws, *batch), like=energies).expand(rungs - 1, *batch)
        memory = None
        if self.pairing.sequential:
            order, accepted, memory = self._one_by_one(swap_energies, ladder, chance, past.memory)
        else:
            ratio = log_swap_ratio(self.rule, swap_energies, ladder)
            accepted = meets & (chance < self.intensity * ratio.exp())
            order = permutation(accepted)
        order = stored(order)
        info = SwapInfo(probability, meets, accepted, past.replica.gather(0, order))
        state = permute(after, order)
        return (
            state,
            info,
            SwapMemory(past.turn + 1, info.replica, state.log_prob if memory is None else memory),
        )

    def _one_by_one(
        self, energies: SwapEnergies, ladder: Rungs, chance: Tensor, memory: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """The pairs from cold to hot: the replica on rung k meets the one on k + 1, and one of both goes on.

        Nothing is written into a tensor of all rungs: compiled, each such write would copy all of it.
        """
        factors, number = PairFactors.of(self.rule, ladder), len(energies.energy)
        standing, here = torch.zeros_like(energies.energy[0], dtype=torch.int64), energies.at(0)
        climbing, left = memory[0] if self.rule.remembers else None, []
        order, accepted = [], []
        for k in range(number - 1):
            there = energies.at(k + 1)
            upper, lower = here, there
            if climbing is not None:
                upper = replace(upper, energy=upper.energy + climbing)
                lower = replace(lower, energy=lower.energy + memory[k + 1])
                left.append(here.energy)
                climbing = there.energy
            ratio = log_pair_ratio(self.rule, upper, lower, factors.at(k))
            accepted.append(chance[k] < self.intensity * ratio.exp())
            order.append(torch.where(accepted[k], k + 1, standing))
            standing, here = torch.where(accepted[k], standing, k + 1), here.chosen(accepted[k], there)
        kept = None if climbing is None else torch.stack((*left, climbing))
        return torch.stack((*order, standing)), torch.stack(accepted), kept


def replica_labels(log_prob: Tensor) -> Tensor:
    """Every replica on its own rung: 0 .. K - 1 along the first axis, int64, of the shape of `log_prob`."""
    rungs = torch.arange(len(log_prob), device=log_prob.device)
    return along_first(rungs, log_prob.dim()).expand(log_prob.shape).clone()


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
    rows = stored(rows.flatten())

    def moved(values: Tensor) -> Tensor:
        values = stored(values)
        if values.dim() == order.dim():
            return values.gather(0, order)
        # Whole rows: a gather would look up every coordinate.
        return values.reshape(len(rows), -1).index_select(0, rows).reshape(values.shape)

    aux = {
        name: moved(value) if of_chains(value, order.shape) else value for name, value in state.aux.items()
    }
    return State(
        theta=moved(state.theta),
        log_prob=moved(state.log_prob),
        grad=None if state.grad is None else moved(state.grad),
        aux=aux,
    )
