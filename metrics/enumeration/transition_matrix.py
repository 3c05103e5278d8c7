"""Transition matrices of kernels on small spaces, by enumeration, exact to float64 rounding.

The matrix is built from the functions that `step` runs (the proposal's `log_prob` and the shared acceptance,
or `log_transition`), so that a test of the matrix is a test of the kernel's own code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from samplers.inverse_temperatures import tempered_log_prob
from samplers.kernel import Kernel, NotEnumerableError, State
from samplers.metropolis_hastings import MetropolisHastings
from targets.spaces import Discrete
from targets.target import Target


@runtime_checkable
class LogTransition(Protocol):
    """A kernel with transition probabilities of its own, such as those that draw from conditionals."""

    def log_transition(self, target: Target, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log P(source -> destination), shape ``(*batch)``."""
        ...


def enumerable_space(target: Target) -> Discrete:
    """The target's space.

    Raises:
        NotEnumerableError: if it cannot be enumerated.
    """
    if not isinstance(target.space, Discrete):
        raise NotEnumerableError(f"only discrete spaces can be enumerated, not {target.space}")
    return target.space


def transition_matrix(
    kernel: Kernel, target: Target, beta: float = 1.0, aux: Mapping[str, Tensor] | None = None
) -> Tensor:
    """P ``(size, size)``, float64, rows summing to one: one step of `kernel` for exp(beta * log_prob).

    Args:
        kernel: Metropolis-Hastings, unadjusted, or any kernel with `log_transition`.
        target: in float64, on a discrete space of at most about 5,000 states, as the whole matrix is stored.
        beta: inverse temperature.
        aux: the kernel's auxiliary variables (a position in a cycle); by default those of `init`.

    Raises:
        NotEnumerableError: for a space that cannot be enumerated, a kernel without transition probabilities.
    """
    space = enumerable_space(target)
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
        if kernel.adjusted:
            matrix = (forward + kernel.log_acceptance(space, source, arrival, tempered)).exp()
            # Where the proposal has no probability the ratio of proposals is undefined and the entry is zero.
            matrix.masked_fill_(forward.isneginf(), 0.0)
        elif target.constrained:  # in place of moving to a state of density zero a chain stays, see `taken`
            matrix = forward.exp().masked_fill_(arrival.log_prob.isneginf(), 0.0)
        else:
            return forward.exp()
        matrix.fill_diagonal_(0.0)
        return matrix + torch.diag(1.0 - matrix.sum(-1))
    lacks = "gives no transition probabilities to enumerate, neither by a proposal nor by log_transition"
    raise NotEnumerableError(f"{type(kernel).__name__} {lacks}")


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
        return State(along(start.theta, axis), along(start.log_prob, axis), grad, aux, start.cached_by)

    return state(0), state(1)


def stationary(matrix: Tensor, visited: Tensor | None = None) -> Tensor:
    """The stationary distribution of a transition matrix, ``(size,)``, summing to one.

    Args:
        matrix: ``(size, size)``, irreducible on the states that are visited.
        visited: which states they are, bool ``(size,)``; the others have no mass. None for all.
    """
    if visited is not None:
        pi = matrix.new_zeros(len(matrix))
        pi[visited] = stationary(matrix[visited][:, visited])
        return pi
    size = len(matrix)
    system = torch.cat(
        [matrix.T - torch.eye(size, dtype=matrix.dtype), torch.ones((1, size), dtype=matrix.dtype)]
    )
    right = torch.zeros(size + 1, dtype=matrix.dtype)
    right[-1] = 1.0
    solution: Tensor = torch.linalg.lstsq(system, right.unsqueeze(-1)).solution
    return solution.squeeze(-1)


def tempered_probabilities(target: Target, beta: float = 1.0) -> Tensor:
    """pi^beta, normalised over ``space.states()``, float64 ``(size,)``; zero where pi is, also at beta = 0.

    Raises:
        NotEnumerableError: for a space that cannot be enumerated.
    """
    log_prob = target.log_prob(enumerable_space(target).states()).double()
    return tempered_log_prob(log_prob, beta).softmax(-1)


def invariance_error(matrix: Tensor, pi: Tensor) -> float:
    """max |pi P - pi|: zero if the kernel leaves the distribution `pi` invariant."""
    return float((pi @ matrix - pi).abs().max())


def total_variation(p: Tensor, q: Tensor) -> float:
    """Half the L1 distance between two distributions on the same states."""
    return float(0.5 * (p - q).abs().sum())
