"""Whether a step is being traced for a compiler, which likes other operations than the eager step does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_TRACED: ContextVar[bool] = ContextVar("traced", default=False)


def is_traced() -> bool:
    """Whether the operations that follow are traced: then views of words and batched products do not pay."""
    return _TRACED.get()


@contextmanager
def traced() -> Iterator[None]:
    """Inside this operations are traced."""
    token = _TRACED.set(True)
    try:
        yield
    finally:
        _TRACED.reset(token)
