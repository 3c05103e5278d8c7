"""Seeds of compiled steps in one batch: where that pays, and whether each has the bits that it has alone.

A compiler makes a loop of whole vectors and a remainder, in which a function may round differently. So the
last bits of a chain can depend on how many there are, and a batch is tried beside seeds alone before a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from samplers.kernel import State
from samplers.stepper import Stepper
from samplers.tensor_tree import tensors

MOST_BYTES = 2**16
"""States of one seed, replicas counted; a batch of larger ones leaves the cache and takes longer."""

LEAST_STEPS = 200_000
"""Steps of single seeds that a batch must replace. Of DMALA on a grid each saves 46 us; a trial took 6 s."""

TRIED = 2_000
"""Steps. Exponentials of a remainder differ from those of a vector in 1 % of their arguments, logarithms in
8 %: with one exponential a step, 5 % of trials of 300 steps would miss it."""


class Steps(Protocol):
    """Runs of some seeds before their first step."""

    state: State

    @property
    def total(self) -> int: ...
    @property
    def stepper(self) -> Stepper: ...


def batch_pays(device: torch.device, seeds: int, steps: int, state_bytes: int) -> bool:
    """Whether compiled runs of so many steps may gain by a batch, on one thread of the CPU."""
    alone = device.type != "cpu" or torch.get_num_threads() > 1
    return not alone and (seeds - 1) * steps >= LEAST_STEPS and state_bytes <= MOST_BYTES


@torch.no_grad()
def has_own_bits(begun: Callable[[Sequence[int]], Steps], seeds: Sequence[int]) -> bool:
    """Whether the first and the last of `seeds` take the same steps in a batch as alone, to the last bit.

    Chains of the seeds between are at no end of a loop of the batch, as those of the first.
    """
    places = (0, len(seeds) - 1)
    batch, singles = begun(seeds), [begun([seeds[place]]) for place in places]
    if not all(run.stepper.compiled for run in (batch, *singles)):
        return False
    for _ in range(min(TRIED, batch.total)):
        found = _next(batch)
        for place, single in zip(places, singles, strict=True):
            pairs = zip(found, _next(single), strict=True)
            if not all(torch.equal(_of_seed(one, other, place), other) for one, other in pairs):
                return False
    return True


def _next(run: Steps) -> list[Tensor]:
    """All tensors of the next step."""
    taken: tuple[State, Any] = run.stepper(run.state)
    run.state = taken[0]
    return list(tensors(taken))


def _of_seed(batched: Tensor, alone: Tensor, place: int) -> Tensor:
    """The part of a tensor of the batch that a seed has; all of what the seeds share."""
    lengths = enumerate(zip(batched.shape, alone.shape, strict=True))
    axis = next((axis for axis, (many, one) in lengths if many != one), None)
    return batched if axis is None else batched.narrow(axis, place, 1)
