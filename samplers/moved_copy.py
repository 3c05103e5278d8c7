"""Copies of what has hyperparameters, with these in another precision or on another device."""

from __future__ import annotations

import copy
from typing import Protocol, Self, TypeVar, runtime_checkable

from torch import Tensor

Given = TypeVar("Given")


@runtime_checkable
class Movable(Protocol):
    """Anything with hyperparameters that can be brought to a dtype and device."""

    def to(self, like: Tensor) -> Self:
        """A copy with the dtype and device of `like`."""
        ...


def moved_copy(given: Given, like: Tensor) -> Given:
    """A copy of `given`, of its own class, whose tensors have the dtype and device of `like`.

    Whole numbers keep their dtype, and what is `Movable` moves itself; all else is shared.
    """
    moved = copy.copy(given)
    for name, value in vars(given).items():
        if isinstance(value, Tensor):
            setattr(moved, name, value.to(like) if value.is_floating_point() else value.to(like.device))
        elif isinstance(value, Movable):
            setattr(moved, name, value.to(like))
    return moved
