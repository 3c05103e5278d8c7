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


def apart(values: Tensor) -> Tensor:
    """`values`, one for each rung of a ladder, with gaps between them in memory.

    Where they lie side by side a compiler runs through all rungs for every few chains, and so through the
    tables of all rungs; with gaps it runs through the chains of one rung after the other.
    """
    return torch.stack((values, values), -1)[..., 0]


@contextmanager
def traced() -> Iterator[None]:
    """Inside this operations are traced."""
    token = _TRACED.set(True)
    try:
        yield
    finally:
        _TRACED.reset(token)
