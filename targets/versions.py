"""Whether tensors are still those that something was computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn


@dataclass(frozen=True)
class Versions:
    """The parameters and buffers of a module, and how often each had been changed in place.

    A copy knows none: torch counts the changes of copied tensors anew.

    Attributes:
        found: each tensor and its number of changes; empty where nothing was computed yet.
    """

    found: tuple[tuple[Tensor, int], ...] = ()

    @classmethod
    def of(cls, module: nn.Module) -> Versions:
        """Those of `module` now; none where changes are not counted, as in inference mode."""
        tensors = _tensors(module)
        return cls(
            () if any(each.is_inference() for each in tensors) else tuple((t, t._version) for t in tensors)
        )

    def hold(self, module: nn.Module) -> bool:
        """Whether the tensors of `module` are the same, unchanged."""
        now = _tensors(module)
        return (
            bool(self.found)
            and len(now) == len(self.found)
            and all(
                one is other and one._version == version
                for one, (other, version) in zip(now, self.found, strict=True)
            )
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Versions, ()


def changes(tensor: Tensor) -> int | None:
    """How often `tensor` was changed in place; None where torch does not count every change.

    So in inference mode, where NumPy or a file holds the same memory, and inside of transforms such as vmap.
    Writing to ``tensor.data`` is never counted, and nothing tells of it.
    """
    if tensor.is_inference():
        return None
    try:
        # torch lets no memory grow that others hold, too: no other mark of it is left on a tensor.
        return tensor._version if tensor.untyped_storage().resizable() else None
    except NotImplementedError:  # a tensor of vmap has no memory of its own
        return None


def _tensors(module: nn.Module) -> list[Tensor]:
    return [*module.parameters(), *module.buffers()]
