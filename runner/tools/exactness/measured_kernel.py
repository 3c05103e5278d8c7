"""The transition matrices of one kernel on a small target, and whether its drawn steps follow them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor

from metrics.enumeration.enumerated_chain import cycle, visited_states
from metrics.enumeration.row_agreement import Agreement
from metrics.enumeration.simulated_transition import joint_distribution, simulated_matrix
from metrics.enumeration.tempered_transition import ladder_of, product_distribution, round_matrix
from metrics.enumeration.transition_matrix import (
    enumerable_space,
    invariance_error,
    stationary,
    tempered_probabilities,
    total_variation,
    transition_matrix,
)
from runner.tools.exactness.step_agreement import prepared_agreement, step_agreement
from samplers.kernel import Kernel, NotEnumerableError
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from targets.target import Target

BETAS = (1.0, 0.5, 0.1)

DRAWN = (1.0, 0.5)
"""Inverse temperatures at which steps are drawn: one of them not 1, for a step that forgets beta."""

ONE = torch.ones((), dtype=torch.float64)

LARGEST = 1_000
"""Most states of a product space; larger ones are left out."""


@dataclass(frozen=True)
class Measured:
    """A kernel at one setting and inverse temperature.

    Attributes:
        error: max |pi P - pi|, the largest over the positions of its cycle.
        steps: how well drawn steps agree with the matrices.
        bias: total variation of its stationary distribution to the target; None if it claims to be exact.
        checked: number of transition matrices.
        row_error: how far the sum of a row of these matrices is from 1, at most.
    """

    error: float
    steps: Agreement
    bias: float | None
    checked: int
    row_error: float


def is_tempered(kernel: Kernel) -> bool:
    """Whether steps are drawn at one setting only: at others the kernel inside differs, drawn by itself."""
    return isinstance(kernel, (ParallelTempering, SimulatedTempering))


def measured_kernel(kernel: Kernel, target: Target, draws: int) -> Sequence[Measured]:
    """`kernel` at each inverse temperature that it serves; a ladder at its own.

    Args:
        draws: steps from each state; of a ladder 0 draws none.

    Raises:
        NotEnumerableError: if its transitions cannot be listed.
    """
    if isinstance(kernel, ParallelTempering):
        return [_tempered(kernel, target, draws)]
    if isinstance(kernel, SimulatedTempering):
        return [_simulated(kernel, target, draws)]
    return [_plain(kernel, target, draws, beta) for beta in (BETAS if kernel.temperable else BETAS[:1])]


def _plain(kernel: Kernel, target: Target, draws: int, beta: float) -> Measured:
    """Over all positions of the kernel's cycle."""
    positions = cycle(kernel, target, beta)
    matrices = [transition_matrix(kernel, target, beta, aux) for aux in positions]
    pairs = list(zip(matrices, [*matrices[1:], matrices[0]], strict=True))
    steps = Agreement()
    for aux, pair in zip(positions, pairs, strict=True) if beta in DRAWN else ():
        steps += step_agreement(kernel, target, pair, draws, beta, aux)
    if beta == 1.0:
        steps += prepared_agreement(kernel, target, pairs[0], draws)
    pi = tempered_probabilities(target, beta)
    bias = None
    if not kernel.exact:
        bias = total_variation(stationary(reduce(torch.matmul, matrices), visited_states(kernel, target)), pi)
    return _measured(matrices, pi, steps, bias)


def _tempered(kernel: ParallelTempering, target: Target, draws: int) -> Measured:
    """On the product space of the replicas, for even and odd rounds and all positions of a cycle."""
    ladder, size = ladder_of(kernel), enumerable_space(target).size
    rungs = len(ladder.betas)
    if size**rungs > LARGEST:
        raise NotEnumerableError(f"{size}^{rungs} states of {rungs} replicas are too many to list")
    local = _local_matrices(zip(ladder.kernels, ladder.betas, strict=True), target)
    matrices = [
        round_matrix(target, local[turn % len(local)], ladder, kernel.swaps, turn)
        for turn in range(math.lcm(2, len(local)))
    ]
    bias = None
    if not kernel.exact:
        now = stationary(reduce(torch.matmul, matrices), visited_states(kernel, target))
        met = torch.zeros_like(now)
        for matrix in matrices:
            met += now / len(matrices)
            now = now @ matrix
        bias = total_variation(met.reshape(size, -1).sum(1), tempered_probabilities(target))
    steps = Agreement()
    if draws:
        # What a run steps; the kernel inside is drawn by itself without tables, too.
        steps += step_agreement(kernel.prepared(target, ONE), target, (matrices[0], matrices[1]), draws)
    return _measured(matrices, product_distribution(target, ladder.betas), steps, bias)


def _simulated(kernel: SimulatedTempering, target: Target, draws: int) -> Measured:
    """On the pairs of a level and a state; the bias is that of the states at the cold level."""
    size = enumerable_space(target).size
    if size * kernel.levels > LARGEST:
        raise NotEnumerableError(f"{size} states at {kernel.levels} levels are too many to list")
    levels = [kernel.at(torch.tensor(level)) for level in range(kernel.levels)]
    local = _local_matrices(zip(levels, kernel.betas.tolist(), strict=True), target)
    matrices = [simulated_matrix(kernel, target, within) for within in local]
    bias = None
    if not kernel.exact:
        cold = stationary(reduce(torch.matmul, matrices), visited_states(kernel, target))[:size]
        bias = total_variation(cold / cold.sum(), tempered_probabilities(target))
    steps = Agreement()
    if draws:
        steps += step_agreement(kernel, target, (matrices[0], matrices[1 % len(matrices)]), draws)
    return _measured(matrices, joint_distribution(kernel, target), steps, bias)


def _local_matrices(kernels: Iterable[tuple[Kernel, float]], target: Target) -> list[list[Tensor]]:
    """For each position of the cycle the matrix of every rung, each at its inverse temperature."""
    rungs = [
        [transition_matrix(kernel, target, beta, aux) for aux in cycle(kernel, target, beta)]
        for kernel, beta in kernels
    ]
    return [list(position) for position in zip(*rungs, strict=True)]


def _measured(matrices: Sequence[Tensor], pi: Tensor, steps: Agreement, bias: float | None) -> Measured:
    return Measured(
        _worst(invariance_error(matrix, pi) for matrix in matrices),
        steps,
        bias,
        len(matrices),
        _worst(float((matrix.sum(-1) - 1.0).abs().max()) for matrix in matrices),
    )


def _worst(errors: Iterable[float]) -> float:
    """The largest of `errors`; Python's max() would pass over a NaN that is not the first."""
    return float(torch.tensor(list(errors), dtype=torch.float64).max())
