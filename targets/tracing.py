"""Whether a step is being traced for a compiler, which likes other operations than the eager step does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

_TRACED: ContextVar[bool] = ContextVar("traced", default=False)


def is_traced() -> bool:
    """Whether the operations that follow are traced: then views of words and batched products do not pay."""
    return _TRACED.get()


def stored(values: Tensor) -> Tensor:
    """`values`, new and contiguous; a compiler computes them once, and not again wherever they are used."""
    return torch.as_strided(values, values.shape, values.stride()) if is_traced() else values


@contextmanager
def traced() -> Iterator[None]:
    """Inside this operations are traced."""
    token = _TRACED.set(True)
    try:
        yield
    finally:
        _TRACED.reset(token)
