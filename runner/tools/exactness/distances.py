"""How far one step of a kernel moves its target distribution, by enumeration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import torch

from metrics.enumeration.enumerated_chain import cycle
from metrics.enumeration.simulated_transition import joint_distribution, simulated_matrix
from metrics.enumeration.tempered_transition import product_distribution, tempering_matrix
from metrics.enumeration.transition_matrix import (
    invariance_error,
    stationary,
    tempered_probabilities,
    total_variation,
    transition_matrix,
)
from runner.execution.errors import one_sentence
from runner.tools.exactness.kernel_variants import KernelVariant
from runner.tools.exactness.not_enumerable import why_not_enumerable
from samplers.kernel import Kernel
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from samplers.tuning.tunable import Tunable, fixed
from targets.spaces import Discrete
from targets.target import Target

BETAS = (1.0, 0.5, 0.1)
LIMIT = 1e-12
LARGEST = 1_000
"""Most states of a product space; larger ones are left out."""


@dataclass(frozen=True)
class Distance:
    """A sampler on a space, over all its settings.

    Attributes:
        claimed: whether it claims to be exact.
        error: max |pi P - pi|, the largest over inverse temperatures, step sizes and positions of a cycle.
        bias: total variation of its stationary distribution to the target, lowest and highest; if inexact.
        checked: number of transition matrices.
        left_out: why something was not checked; empty if all was.
    """

    sampler: str
    space: str
    claimed: bool
    error: float
    bias: tuple[float, float] | None
    checked: int
    left_out: str

    @property
    def fails(self) -> bool:
        """Whether it claims to be exact, was checked, and is not."""
        return self.claimed and self.checked > 0 and not self.error <= LIMIT


@dataclass(frozen=True)
class _Part:
    error: float
    bias: float | None
    checked: int


def distance(settings: Iterable[KernelVariant], space: str, target: Target) -> Distance:
    """The distance of one sampler, at all its `settings`, from `target`."""
    parts: list[_Part] = []
    reasons: dict[str, None] = {}
    name, claimed = "", False
    for variant in settings:
        name, claimed = variant.name, claimed or fixed(variant.sampler).exact
        try:
            parts += _parts(_tuned(variant.sampler, target), target)
        except ValueError as error:
            reasons[one_sentence(error)] = None
    biases = [part.bias for part in parts if part.bias is not None]
    # Python's max() would pass over a NaN that is not the first.
    worst = float(np.max([part.error for part in parts] or [np.nan]))
    bias = (min(biases), max(biases)) if biases else None
    return Distance(name, space, claimed, worst, bias, sum(p.checked for p in parts), "; ".join(reasons))


def _tuned(sampler: Kernel | Tunable, target: Target) -> Kernel:
    """The kernel with what is still open tuned on the target by its own pilot.

    Raises:
        ValueError: if it cannot be enumerated, or does not fit the target.
    """
    reason = why_not_enumerable(fixed(sampler))
    if reason is not None:
        raise ValueError(reason)
    sampler.check(target)
    if isinstance(sampler, Kernel):
        return sampler
    return sampler.tuned(target, torch.Generator().manual_seed(0))


def _parts(kernel: Kernel, target: Target) -> Sequence[_Part]:
    if isinstance(kernel, ParallelTempering):
        return _tempered(kernel, target)
    if isinstance(kernel, SimulatedTempering):
        return _simulated(kernel, target)
    return _plain(kernel, target)


def _plain(kernel: Kernel, target: Target) -> Sequence[_Part]:
    """At each inverse temperature that the kernel takes, over all positions of its cycle."""
    parts, refusals = [], []
    for beta in BETAS:
        try:
            matrices = [transition_matrix(kernel, target, beta, aux) for aux in cycle(kernel, target, beta)]
        except ValueError as error:
            refusals.append(error)
            continue
        pi = tempered_probabilities(target, beta)
        worst = max(invariance_error(matrix, pi) for matrix in matrices)
        bias = None
        if not kernel.exact:
            bias = total_variation(stationary(reduce(torch.matmul, matrices)), pi)
        parts.append(_Part(worst, bias, len(matrices)))
    if not parts:
        raise refusals[-1]
    return parts


def _tempered(kernel: ParallelTempering, target: Target) -> Sequence[_Part]:
    """On the product space of the replicas, for an even and an odd round."""
    assert isinstance(target.space, Discrete)
    betas, size = kernel.betas.flatten().tolist(), target.space.size
    if size ** len(betas) > LARGEST:
        raise ValueError(f"{size}^{len(betas)} states of {len(betas)} replicas are too many to list")
    even, odd = (tempering_matrix(kernel, target, turn) for turn in (0, 1))
    pi = product_distribution(target, betas)
    bias = None
    if not kernel.exact:
        own = stationary(even @ odd)
        cold = 0.5 * (own + own @ even).reshape(size, -1).sum(1)
        bias = total_variation(cold, tempered_probabilities(target))
    return [_Part(max(invariance_error(even, pi), invariance_error(odd, pi)), bias, 2)]


def _simulated(kernel: SimulatedTempering, target: Target) -> Sequence[_Part]:
    """On the pairs of a level and a state; the bias is that of the states at the cold level."""
    assert isinstance(target.space, Discrete)
    size = target.space.size
    if size * kernel.levels > LARGEST:
        raise ValueError(f"{size} states at {kernel.levels} levels are too many to list")
    matrix = simulated_matrix(kernel, target)
    bias = None
    if not kernel.exact:
        cold = stationary(matrix)[:size]
        bias = total_variation(cold / cold.sum(), tempered_probabilities(target))
    return [_Part(invariance_error(matrix, joint_distribution(kernel, target)), bias, 1)]
