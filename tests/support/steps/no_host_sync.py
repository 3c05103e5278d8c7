"""A guard that fails where the host asks for a tensor's value: on a GPU that would stop the queue."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class NoHostSync(TorchDispatchMode):
    """Raises AssertionError at any `.item()`, `bool(tensor)` or the like inside the ``with`` block."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is torch.ops.aten._local_scalar_dense.default:
            raise AssertionError("a step synchronises with the host")
        return func(*args, **(kwargs or {}))
