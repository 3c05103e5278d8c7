"""A target whose seeds share a batch although its rounding depends on the number of rows.

A matrix product may round differently when more rows are in it. Each such computation is therefore made for
one seed after the other, from tensors of the shape and alignment that they have when the seed is alone: the
same bits. What a sampler does around it is done for all seeds at once.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from targets.target import Target

ALIGNMENT = 64
"""Bytes at whose multiples torch's CPU tensors begin; products of others may round differently."""

T = TypeVar("T", bound=Target)


def in_seed_blocks(target: T, seeds: int) -> T:
    """`target` for batches ``(.., seeds, chains)`` in which each seed has the bits that it has alone.

    Returns:
        `target` itself where that holds anyway, or there is one seed; else a copy with the same parameters.

    Raises:
        ValueError: if the target does not say which of its methods to compute seed by seed.
    """
    if seeds == 1 or target.batch_invariant:
        return target
    if not target.by_seed:
        raise ValueError(f"the seeds of {type(target).__name__} cannot share a batch, {seeds} were given")
    blocks = copy.copy(target)
    for name in target.by_seed:
        if hasattr(target, name):
            vars(blocks)[name] = _SeedBySeed(getattr(target, name), len(target.space.event_shape), seeds)
    return blocks


class _SeedBySeed:
    """A method of states, called for each seed of a batch.

    Args:
        method: from tensors ``(*batch, *event)`` to one or several tensors that begin with the batch axes.
        event: number of event axes.
        seeds: number of seeds in a batch. Tensors without an axis of so many seeds are passed on as they are:
            a metric's states are not always those of a batch.
    """

    def __init__(self, method: Callable[..., Any], event: int, seeds: int) -> None:
        self.method, self.trailing, self.seeds = method, event + 2, seeds

    def __call__(self, theta: Tensor, *others: Tensor) -> Any:
        axis = theta.dim() - self.trailing
        if axis < 0 or theta.shape[axis] != self.seeds:
            return self.method(theta, *others)
        parts = [
            self.method(*(_alone(each.narrow(axis, place, 1)) for each in (theta, *others)))
            for place in range(self.seeds)
        ]
        if isinstance(parts[0], Tensor):
            return torch.cat(parts, axis)
        return tuple(torch.cat(each, axis) for each in zip(*parts, strict=True))


def _alone(part: Tensor) -> Tensor:
    """`part` as a tensor that lies in memory as one of its own does."""
    own = part.is_contiguous() and part.data_ptr() % ALIGNMENT == 0
    return part if own else part.clone(memory_format=torch.contiguous_format)
