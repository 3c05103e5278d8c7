"""Transition matrices by enumeration: what a kernel does on a small space, to float64 rounding.

The matrix is built from the very functions that `step` runs (the proposal's `log_prob` and the shared
acceptance, or `log_transition`), so a kernel cannot pass on code that it does not use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from samplers.kernel import Kernel, State
from samplers.metropolis_hastings import MetropolisHastings
from targets.spaces import Discrete
from targets.target import Target


@runtime_checkable
class LogTransition(Protocol):
    """A kernel that gives its transition probabilities itself, as those that draw from conditionals do."""

    def log_transition(self, target: Target, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log P(source -> destination), shape ``(*batch)``."""
        ...


def transition_matrix(
    kernel: Kernel, target: Target, beta: float = 1.0, aux: Mapping[str, Tensor] | None = None
) -> Tensor:
    """P ``(size, size)``, float64, rows summing to one: one step of `kernel` for exp(beta * log_prob).

    Args:
        kernel: Metropolis-Hastings, unadjusted, or any kernel with `log_transition`.
        target: in float64, on a discrete space; the whole matrix is held, so keep it below 5,000 states.
        beta: inverse temperature.
        aux: what the kernel carries besides theta (a position in a cycle); by default what `init` gives.

    Raises:
        ValueError: for a space that cannot be enumerated or a kernel that gives no probabilities.
    """
    space = target.space
    if not isinstance(space, Discrete):
        raise ValueError(f"only discrete spaces can be enumerated, not {space}")
    states = space.states()
    size = len(states)
    tempered = torch.tensor(beta, dtype=torch.float64)
    start = kernel.init(target, states, tempered)
    if aux is not None:
        start = replace(start, aux=aux)
    source, arrival = _pairs(start, size)
    if isinstance(kernel, LogTransition):
        return kernel.log_transition(target, source, arrival.theta, tempered).exp()
    if isinstance(kernel, MetropolisHastings):
        forward = kernel.proposal.log_prob(space, source, arrival.theta, tempered)
        if not kernel.adjusted:
            return forward.exp()
        matrix = (forward + kernel.log_acceptance(space, source, arrival, tempered)).exp()
        # Where no proposal leads, the ratio of the proposals is undefined and the probability zero.
        matrix.masked_fill_(forward.isneginf(), 0.0)
        matrix.fill_diagonal_(0.0)
        return matrix + torch.diag(1.0 - matrix.sum(-1))
    raise ValueError(f"{type(kernel).__name__} gives no transition probabilities to enumerate")


def _pairs(start: State, size: int) -> tuple[State, State]:
    """`start` as source and as destination of all ``(size, size)`` moves."""

    def along(tensor: Tensor, axis: int) -> Tensor:
        return tensor.unsqueeze(1 - axis).expand(size, size, *tensor.shape[1:])

    def state(axis: int) -> State:
        grad = None if start.grad is None else along(start.grad, axis)
        aux = {
            name: along(value, axis) if value.shape[:1] == (size,) else value
            for name, value in start.aux.items()
        }
        return State(along(start.theta, axis), along(start.log_prob, axis), grad, aux)

    return state(0), state(1)


def stationary(matrix: Tensor) -> Tensor:
    """The stationary law of an irreducible transition matrix, shape ``(size,)``, summing to one."""
    size = len(matrix)
    system = torch.cat(
        [matrix.T - torch.eye(size, dtype=matrix.dtype), torch.ones((1, size), dtype=matrix.dtype)]
    )
    right = torch.zeros(size + 1, dtype=matrix.dtype)
    right[-1] = 1.0
    solution: Tensor = torch.linalg.lstsq(system, right.unsqueeze(-1)).solution
    return solution.squeeze(-1)


def tempered_probabilities(target: Target, beta: float = 1.0) -> Tensor:
    """pi^beta, normalised over ``space.states()``, float64 ``(size,)``.

    Raises:
        ValueError: for a space that cannot be enumerated.
    """
    if not isinstance(target.space, Discrete):
        raise ValueError(f"only discrete spaces can be enumerated, not {target.space}")
    return (beta * target.log_prob(target.space.states()).double()).softmax(-1)


def invariance_error(matrix: Tensor, law: Tensor) -> float:
    """max |law P - law|: zero when the kernel leaves the law invariant."""
    return float((law @ matrix - law).abs().max())


def total_variation(p: Tensor, q: Tensor) -> float:
    """Half the L1 distance between two laws on the same states."""
    return float(0.5 * (p - q).abs().sum())
