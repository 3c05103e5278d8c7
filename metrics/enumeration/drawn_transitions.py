"""Where a kernel's `step` leads from each state, drawn, beside what its transition matrices say.

A matrix is built from `log_prob`, the acceptance or `log_transition`; a `step` of one's own may do something
else. Chains stand at every state of the target. What a tempered kernel has besides (the other replicas, the
level) is drawn uniformly, and the rows of its matrix are averaged over that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from metrics.enumeration.transition_matrix import enumerable_space
from samplers.kernel import Kernel, State
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.simulated.simulated_tempering import LEVEL, SimulatedTempering
from targets.randomness import Generator, uniform
from targets.spaces import Discrete
from targets.target import Target

CHUNK = 2**17
"""Chains that step at once."""

TWICE = 4
"""Every so many batches take a second step; it is tested for what the first one left in the state."""

NOWHERE = 2**40
"""Stands for the number of what is no state of the space, also in products and sums of such numbers."""


@dataclass(frozen=True, eq=False)
class Placement:
    """How chains are put at the states of a target, and read off again.

    Attributes:
        put: chains at the states with these numbers ``(chains,)``.
        place: the number of each chain's state ``(chains,)`` in the order of the matrix.
        rows: of a matrix ``(cells, cells)`` the rows of the target's states ``(size, cells)``.
    """

    put: Callable[[Tensor, Generator], State]
    place: Callable[[State], Tensor]
    rows: Callable[[Tensor], Tensor]


def placement(
    kernel: Kernel, target: Target, beta: Tensor, aux: Mapping[str, Tensor] | None = None
) -> Placement:
    """The placement of chains of `kernel`.

    Args:
        beta: inverse temperature, a scalar.
        aux: auxiliary variables of a kernel without tempering, a scalar each or one row for each state; by
            default those of `init`.

    Raises:
        NotEnumerableError: for a space that cannot be enumerated.
    """
    space = enumerable_space(target)
    states, size = space.states(), space.size
    if isinstance(kernel, ParallelTempering):
        others = len(kernel.betas) - 1
        powers = (size ** torch.arange(others, -1, -1)).unsqueeze(-1)

        def replicas(places: Tensor, generator: Generator) -> State:
            drawn = _uniform_places(size, (others, len(places)), generator)
            return kernel.init(target, states[torch.cat([places.unsqueeze(0), drawn])], beta)

        return Placement(
            replicas,
            lambda state: (_places(space, states, state.theta) * powers).sum(0),
            lambda matrix: matrix.reshape(size, -1, len(matrix)).mean(1),
        )
    if isinstance(kernel, SimulatedTempering):

        def levels(places: Tensor, generator: Generator) -> State:
            drawn = _uniform_places(kernel.levels, places.shape, generator)
            state = kernel.init(target, states[places], beta)
            return replace(state, aux={**state.aux, LEVEL: drawn})

        return Placement(
            levels,
            lambda state: state.aux[LEVEL] * size + _places(space, states, state.theta),
            lambda matrix: matrix.reshape(-1, size, len(matrix)).mean(0),
        )

    def plain(places: Tensor, generator: Generator) -> State:
        state = kernel.init(target, states[places], beta)
        own = {
            name: value[places] if value.shape[:1] == (size,) else value
            for name, value in (aux or {}).items()
        }
        return replace(state, aux={**state.aux, **own})

    return Placement(plain, lambda state: _places(space, states, state.theta), lambda matrix: matrix)


def drawn_counts(
    kernel: Kernel,
    target: Target,
    start: Placement,
    cells: int,
    draws: int,
    beta: Tensor,
    generator: Generator,
) -> tuple[Tensor, Tensor]:
    """How many of `draws` chains from each state are where after one step, and after two.

    A part of the chains, about one in `TWICE`, takes the second step.

    Args:
        cells: size of the kernel's matrix.

    Returns:
        Two tables of counts ``(size, cells + 1)``, int64; the last cell is for what is no state.
    """
    size = enumerable_space(target).size
    tables = torch.zeros((2, size * (cells + 1)), dtype=torch.int64)
    together = max(CHUNK // size, 1)
    for turn, begin in enumerate(range(0, draws, together)):
        sources = torch.arange(size).repeat_interleave(min(together, draws - begin))
        state = start.put(sources, generator)
        for table in tables if turn % TWICE == 0 else tables[:1]:
            state, _ = kernel.step(target, state, beta, generator)
            there = start.place(state)
            there = there.where((there >= 0) & (there < cells), torch.full_like(there, cells))
            table += torch.bincount(sources * (cells + 1) + there, minlength=len(table))
    first, second = tables.reshape(2, size, cells + 1)
    return first, second


def _uniform_places(count: int, shape: tuple[int, ...], generator: Generator) -> Tensor:
    drawn = uniform(generator, shape, like=torch.empty(0, dtype=torch.float64))
    return (drawn * count).long()


def _places(space: Discrete, states: Tensor, theta: Tensor) -> Tensor:
    """The number of each state, ``(*batch)``; far below zero where `theta` is no state of the space."""
    places = space.index(theta)
    known = (places >= 0) & (places < space.size)
    found = states[places.where(known, torch.zeros_like(places))].to(theta)
    there = known & (found == theta).flatten(places.dim()).all(-1)
    return places.where(there, torch.full_like(places, -NOWHERE))
