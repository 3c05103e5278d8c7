"""A target whose seeds share a batch although its rounding depends on the number of rows.

A matrix product may round differently when more rows are in it. Each such computation is therefore made for
one seed after the other, from tensors of the shape and alignment that they have when the seed is alone: the
same bits. What a sampler does around it is done for all seeds at once.

On several threads a batched product (`Target.products_of_seeds`) gives each of them a seed, which takes less
time than a seed on all of them. It serves where it has the same bits, which is tried for each shape.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from targets.compiling.tracing import is_traced
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
            batched = target.products_of_seeds.get(name)
            products = None if batched is None else _BatchedProduct(getattr(target, batched))
            event = len(target.space.event_shape)
            vars(blocks)[name] = _SeedBySeed(getattr(target, name), event, seeds, products)
    return blocks


class _SeedBySeed:
    """A method of states, called for each seed of a batch.

    Args:
        method: from tensors ``(*batch, *event)`` to one or several tensors that begin with the batch axes.
        event: number of event axes.
        seeds: number of seeds in a batch. Tensors without an axis of so many seeds are passed on as they are:
            a metric's states are not always those of a batch.
        products: the method for all seeds in one call, if there is one.
    """

    def __init__(
        self, method: Callable[..., Any], event: int, seeds: int, products: _BatchedProduct | None = None
    ) -> None:
        self.method, self.trailing, self.seeds, self.products = method, event + 2, seeds, products

    def __call__(self, theta: Tensor, *others: Tensor) -> Any:
        axis = theta.dim() - self.trailing
        if axis < 0 or theta.shape[axis] != self.seeds:
            return self.method(theta, *others)
        if self.products is not None and axis == 0 and self.products.serves(theta, self._one_by_one):
            return self.products.method(theta)
        return self._one_by_one(theta, *others)

    def _one_by_one(self, theta: Tensor, *others: Tensor) -> Any:
        axis = theta.dim() - self.trailing
        parts, in_place = [], True
        for place in range(self.seeds):
            own, *beside = (each.narrow(axis, place, 1) for each in (theta, *others))
            parts.append(self.method(alone(own), *map(alone, beside)))
            in_place = in_place and parts[-1] is own
        if in_place:  # written over what was given
            return theta
        if isinstance(parts[0], Tensor):
            return torch.cat(parts, axis)
        return tuple(torch.cat(each, axis) for each in zip(*parts, strict=True))


class _BatchedProduct:
    """A product of each seed in one call, and for which shapes it has the bits of one call for each.

    Args:
        method: from states ``(seeds, chains, *event)`` to a tensor that begins with the same two axes.
    """

    def __init__(self, method: Callable[[Tensor], Tensor]) -> None:
        self.method = method
        self._served: dict[tuple[Any, ...], bool] = {}

    def serves(self, theta: Tensor, one_by_one: Callable[[Tensor], Tensor]) -> bool:
        """Whether it has the bits of `one_by_one` for the shape of `theta` on these threads, tried once.

        A library chooses how it multiplies, and with it the rounding, by shape, alignment and threads alone.
        """
        if theta.is_cuda or is_traced() or not _lies_alone(theta):
            return False
        key = (theta.shape, theta.dtype, torch.get_num_threads())
        if key not in self._served:
            any_states = torch.rand(theta.shape, generator=torch.Generator().manual_seed(0)).to(theta)
            self._served[key] = torch.equal(self.method(any_states), one_by_one(any_states))
        return self._served[key]


def alone(part: Tensor) -> Tensor:
    """`part` of a batch as a tensor that lies in memory as one of its own does; a copy where it does not."""
    return part if _lies_alone(part) else part.clone(memory_format=torch.contiguous_format)


def _lies_alone(states: Tensor) -> bool:
    """Whether `states` lie in memory as a tensor of its own does."""
    return states.is_contiguous() and states.data_ptr() % ALIGNMENT == 0
