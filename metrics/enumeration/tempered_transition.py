"""The transition matrix of parallel tempering on the product space of its replicas, by enumeration.

One round consists of local moves followed by swaps. Swap probabilities may depend on the states before the
local moves, so the probability of every combination of accepted and rejected swaps is computed.
"""

from __future__ import annotations

import string
from dataclasses import dataclass

import torch
from torch import Tensor

from metrics.enumeration.transition_matrix import (
    enumerable_space,
    tempered_probabilities,
    transition_matrix,
)
from samplers.kernel import Kernel, NotEnumerableError, evaluate
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.swaps.swap_round import Swaps
from samplers.tempering.swaps.swap_rules import Rungs, SwapEnergies, log_swap_ratio
from targets.target import Target


@dataclass(frozen=True)
class Ladder:
    """`betas` and `step_sizes` of a tuned ladder as plain numbers, and the kernel of each rung."""

    betas: list[float]
    step_sizes: list[float] | None
    kernels: list[Kernel]


def ladder_of(tempering: ParallelTempering) -> Ladder:
    """The rungs of a tuned `ParallelTempering`, one kernel each."""
    values = tempering.betas.tolist()
    sizes = None if tempering.step_sizes is None else tempering.step_sizes.tolist()
    return Ladder(values, sizes, [tempering.rungs.rung(k) for k in range(len(values))])


def product_distribution(target: Target, betas: list[float]) -> Tensor:
    """The product of the normalised pi^beta_k, shape ``(size ** K,)``, the last replica running fastest."""
    pi = torch.ones(1, dtype=torch.float64)
    for beta in betas:
        pi = torch.outer(pi, tempered_probabilities(target, beta)).flatten()
    return pi


def local_matrices(target: Target, ladder: Ladder) -> list[Tensor]:
    """The transition matrix of each rung's local move."""
    return [
        transition_matrix(kernel, target, beta)
        for kernel, beta in zip(ladder.kernels, ladder.betas, strict=True)
    ]


def tempering_matrix(tempering: ParallelTempering, target: Target, turn: int = 0) -> Tensor:
    """P ``(size ** K, size ** K)`` of round number `turn`: local moves, then swaps.

    Rules that depend on earlier sweeps (`released`) are not Markov on this space and are refused.

    Raises:
        NotEnumerableError: for such a rule.
    """
    ladder = ladder_of(tempering)
    return round_matrix(target, local_matrices(target, ladder), ladder, tempering.swaps, turn)


def round_matrix(target: Target, local: list[Tensor], ladder: Ladder, swaps: Swaps, turn: int = 0) -> Tensor:
    """Like `tempering_matrix`, with given `local` matrices ``(size, size)``, one per rung."""
    if swaps.rule.remembers or swaps.shared_uniform:
        raise NotEnumerableError(
            "this swap rule depends on more than the round's own states and is not enumerated here"
        )
    rungs, size = len(local), len(local[0])
    table = _energy_table(target, swaps)
    flow = _flow(local)
    total = torch.zeros((size**rungs, size**rungs), dtype=torch.float64)
    for weight, pairs in _alternatives(swaps, rungs, turn):
        total += _after_swaps(weight * flow, table, ladder, swaps, pairs, size)
    return total


def _flow(local: list[Tensor]) -> Tensor:
    """P_1(x_1, y_1) .. P_K(x_K, y_K) with axes x_1 .. x_K, y_1 .. y_K."""
    rungs = len(local)
    x, y = string.ascii_lowercase[:rungs], string.ascii_uppercase[:rungs]
    terms = ",".join(a + b for a, b in zip(x, y, strict=True))
    return torch.einsum(f"{terms}->{x}{y}", *local)


def _energy_table(target: Target, swaps: Swaps) -> SwapEnergies:
    """The swap energies of a replica that moved from x to y, every tensor ``(size, size)``."""
    states = enumerable_space(target).states()
    size = len(states)
    start = evaluate(target, states, gradient=True)
    assert start.grad is not None

    def pair(tensor: Tensor, axis: int) -> Tensor:
        return tensor.unsqueeze(1 - axis).expand(size, size, *tensor.shape[1:])

    before, after = (
        type(start)(pair(start.theta, axis), pair(start.log_prob, axis), pair(start.grad, axis))
        for axis in (0, 1)
    )
    return swaps.rule.energies(target, before, after, torch.ones(1), torch.Generator())


def _alternatives(swaps: Swaps, rungs: int, turn: int) -> list[tuple[float, list[int]]]:
    """The sets of pairs that may attempt a swap in a round, each with its probability.

    A pairing either fixes them or draws one of two sets with probability 1/2; its own draws show which.
    """
    generator = torch.Generator().manual_seed(0)
    mask = swaps.pairing.meeting(rungs, (64,), torch.tensor(turn), generator).expand(rungs - 1, 64)
    seen = {tuple(column.nonzero().flatten().tolist()) for column in mask.T}
    return [(1.0 / len(seen), list(pairs)) for pairs in sorted(seen)]


def _after_swaps(
    flow: Tensor, table: SwapEnergies, ladder: Ladder, swaps: Swaps, pairs: list[int], size: int
) -> Tensor:
    """Sums `flow` over x -> y -> z, over all outcomes of the swaps of `pairs` between y and z."""
    rungs = len(ladder.betas)

    def along_first(values: list[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float64).reshape(-1, *(1,) * (2 * rungs))

    sizes = ladder.step_sizes
    laid = Rungs(along_first(ladder.betas), None if sizes is None else along_first(sizes))

    def of_replica(values: Tensor | None, replica: int) -> Tensor | None:
        if values is None:
            return None
        shape = [1] * (2 * rungs)
        shape[replica] = shape[rungs + replica] = size
        return values.reshape(shape).unsqueeze(0)

    def swap_probability(order: tuple[int, ...], k: int) -> Tensor:
        pair = order[k], order[k + 1]

        def both(values: Tensor | None) -> Tensor | None:
            first, second = (of_replica(values, replica) for replica in pair)
            if first is None or second is None:
                return None
            return torch.cat([first + torch.zeros_like(second), second + torch.zeros_like(first)])

        energy = both(table.energy)
        assert energy is not None
        energies = SwapEnergies(energy, both(table.length), both(table.variance))
        ratio = log_swap_ratio(swaps.rule, energies, laid.pair(k))
        # Of two replicas of density zero the ratio is NaN: as in a round, they do not swap.
        return swaps.intensity * ratio[0].exp().nan_to_num(nan=0.0)

    branches = {tuple(range(rungs)): flow}
    for k in pairs:
        split: dict[tuple[int, ...], Tensor] = {}
        for order, mass in branches.items():
            probability = swap_probability(order, k)
            swapped = list(order)
            swapped[k], swapped[k + 1] = swapped[k + 1], swapped[k]
            split[order] = split.get(order, 0.0) + mass * (1.0 - probability)
            split[tuple(swapped)] = split.get(tuple(swapped), 0.0) + mass * probability
        branches = split
    total = torch.zeros_like(flow)
    for order, mass in branches.items():
        total += mass.permute(*range(rungs), *(rungs + replica for replica in order))
    return total.reshape(size**rungs, size**rungs)
