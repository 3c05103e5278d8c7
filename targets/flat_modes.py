"""Optional capabilities for studies of flat modes: Hessians, and states known to be flat or sharp."""

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
    """A target that declares some states to be flat modes and others to be sharp modes."""

    flat_states: Tensor
    """Distinct states ``(number, *event_shape)`` whose neighbours are about as probable as they are."""
    sharp_states: Tensor
    """Distinct states ``(number, *event_shape)`` that are much more probable than their neighbours."""
