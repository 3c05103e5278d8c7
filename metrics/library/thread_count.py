"""On how many CPU threads torch computes, for a part of a program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def thread_count(count: int | None = None) -> Iterator[None]:
    """Runs the block on `count` threads; the number of before is restored after it, whatever sets another.

    Args:
        count: with None the block begins with the number that there is.
    """
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)
