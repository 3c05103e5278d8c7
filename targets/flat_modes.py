"""What targets of the flat-mode studies can do besides: their curvature, and their flat and sharp states."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor


@runtime_checkable
class HasHessians(Protocol):
    """An enumerable target whose energy has a known second derivative at every state."""

    def hessians(self) -> Tensor:
        """Hessians of U at ``space.states()``, shape ``(size, d, d)``, float64, symmetric."""
        ...


@runtime_checkable
class HasFlatStates(Protocol):
    """A target of which some states are named as flat modes and others as sharp ones."""

    flat_states: Tensor
    """Distinct states ``(number, *event_shape)`` whose neighbours are about as probable as they are."""
    sharp_states: Tensor
    """Distinct states ``(number, *event_shape)`` that tower above their neighbours."""
