"""The transition matrix of a kernel on a small target; of a cyclical kernel, that of a whole cycle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor

from metrics.enumeration.simulated_transition import joint_distribution, simulated_matrix
from metrics.enumeration.tempered_transition import product_distribution, tempering_matrix
from metrics.enumeration.transition_matrix import (
    enumerable_space,
    stationary,
    tempered_probabilities,
    transition_matrix,
)
from samplers.kernel import Kernel, NotEnumerableError
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from targets.target import Target

LONGEST_CYCLE = 64
"""Number of steps within which a kernel's auxiliary variables must repeat."""

MOST_STATES = 5_000
"""Maximum number of states: the eigenvalues of a larger dense matrix take hours."""

COPIES = 12
"""Number of matrices of the result's size in memory, besides the coordinates of all pairs of states."""


@dataclass(frozen=True, eq=False)
class EnumeratedChain:
    """The matrix of one cycle of a kernel.

    Attributes:
        matrix: ``(states, states)``, float64; states without mass are left out.
        pi: stationary distribution, ``(states,)``: for an exact kernel the target, the product of the
            tempered targets, or the joint distribution of level and state; otherwise the kernel's own.
        steps: number of kernel steps in a cycle.
        place: index of the target's state in each state of the chain, ``(states,)``; with several replicas,
            that of the first.
        level: level of simulated tempering in each state, ``(states,)``; None for other kernels.
    """

    matrix: Tensor
    pi: Tensor
    steps: int
    place: Tensor
    level: Tensor | None = None


def enumerated_chain(kernel: Kernel, target: Target, memory: float = 8.0) -> EnumeratedChain:
    """One cycle of a tuned `kernel` on `target`, which must be in float64.

    For parallel tempering on the product space of the replicas; for simulated tempering on the pairs of a
    level and a state.

    Raises:
        ValueError: if the space cannot be listed or does not fit into `memory` GiB, or the kernel has no
            transition probabilities.
    """
    require_enumerable(kernel, target, memory)
    place, level = torch.arange(enumerable_space(target).size), None
    if kernel.persistent_aux:
        raise ValueError(f"{type(kernel).__name__} carries a continuous variable and cannot be enumerated")
    if isinstance(kernel, ParallelTempering):
        if len(cycle(kernel.rungs.rung(0), target)) > 1:
            raise ValueError("a ladder around a kernel that goes round in a cycle is not enumerated")
        matrices = [tempering_matrix(kernel, target, turn) for turn in (0, 1)]
        if torch.equal(*matrices):
            matrices = matrices[:1]
        pi = product_distribution(target, kernel.betas.flatten().tolist())
        place = place.repeat_interleave(len(pi) // len(place))
    elif isinstance(kernel, SimulatedTempering):
        if len(cycle(kernel.at(torch.tensor(0)), target)) > 1:
            raise ValueError("levels around a kernel that goes round in a cycle are not enumerated")
        matrices = [simulated_matrix(kernel, target)]
        pi = joint_distribution(kernel, target)
        level = torch.arange(kernel.levels).repeat_interleave(len(place))
        place = place.repeat(kernel.levels)
    else:
        matrices = [transition_matrix(kernel, target, aux=aux) for aux in cycle(kernel, target)]
        pi = tempered_probabilities(target)
    matrix: Tensor = reduce(torch.matmul, matrices)
    if not kernel.exact:
        pi = stationary(matrix, visited_states(kernel, target)).clamp(min=0.0)
    kept = pi > 0.0
    return EnumeratedChain(
        matrix[kept][:, kept],
        pi[kept] / pi[kept].sum(),
        len(matrices),
        place[kept],
        None if level is None else level[kept],
    )


def visited_states(kernel: Kernel, target: Target) -> Tensor | None:
    """Which states of the chain it visits on a constrained target, bool ``(states,)``; None for all.

    Those of density zero are left out: of them `stationary` would give rounding errors.
    """
    if not target.constrained:
        return None
    possible = ~target.log_prob(enumerable_space(target).states()).isneginf()
    if isinstance(kernel, ParallelTempering):
        rungs = len(kernel.betas)
        return torch.cartesian_prod(*[possible] * rungs).reshape(-1, rungs).all(-1)
    return possible.repeat(kernel.levels) if isinstance(kernel, SimulatedTempering) else possible


def cycle(kernel: Kernel, target: Target, beta: float = 1.0) -> list[Mapping[str, Tensor]]:
    """The auxiliary variables of `kernel` at each step of its cycle, found by stepping until they repeat.

    Auxiliary variables that `init` computes from theta are not part of the position in the cycle.

    Raises:
        NotEnumerableError: if they do not repeat within `LONGEST_CYCLE` steps.
    """
    tempered = torch.tensor(beta, dtype=torch.float64)
    state = kernel.init(target, enumerable_space(target).states(), tempered)
    seen: list[Mapping[str, Tensor]] = [state.aux]
    if not state.aux:
        return seen
    generator = torch.Generator().manual_seed(0)
    for _ in range(LONGEST_CYCLE):
        state, _ = kernel.step(target, state, tempered, generator)
        anew = kernel.init(target, state.theta, tempered).aux
        position = {
            name: seen[0][name] if _same(value, anew[name]) else value for name, value in state.aux.items()
        }
        if all(torch.equal(value, seen[0][name]) for name, value in position.items()):
            return seen
        seen.append(position)
    raise NotEnumerableError(
        f"the auxiliary variables of {type(kernel).__name__} did not repeat in {LONGEST_CYCLE} steps"
    )


def _same(value: Tensor, other: Tensor) -> bool:
    """Whether two tensors agree to rounding."""
    return value.shape == other.shape and torch.allclose(
        value.double(), other.double(), rtol=1e-12, atol=1e-12
    )


def require_enumerable(kernel: Kernel, target: Target, memory: float) -> None:
    """Refuses a space that cannot be listed or does not fit into `memory` GiB; allocates nothing.

    Raises:
        ValueError: naming the number of states that fit.
    """
    space = enumerable_space(target)
    rungs, states, product = 1, space.size, ""
    if isinstance(kernel, ParallelTempering):
        rungs = len(kernel.betas)
        states = space.size**rungs
        product = f" ({space.size} of the target for each of {rungs} replicas)"
    elif isinstance(kernel, SimulatedTempering):
        states = space.size * kernel.levels
        product = f" ({space.size} of the target at each of {kernel.levels} levels)"
    event = 2 * torch.Size(space.event_shape).numel() if rungs == 1 else 0
    fits = int((memory * 2**30 / (8 * (COPIES + event))) ** 0.5)
    most = min(fits, MOST_STATES)
    if states > most:
        raise ValueError(
            f"{states} states{product} are too many to enumerate with memory={memory:g} GiB: {most} fit"
        )
