"""Finds out whether code draws from a generator that all code shares: no seed of a run fixes its numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def without_global_numbers(what: str, instead: str) -> Iterator[None]:
    """Refuses `what` if it draws from the global generator of torch, NumPy or Python.

    Args:
        instead: what it must do, the end of the message.

    Raises:
        ValueError: naming `what` and the generator.
    """
    of_torch, of_numpy, of_python = torch.get_rng_state(), _of_numpy(), random.getstate()
    yield
    changed = {
        "torch's": not torch.equal(of_torch, torch.get_rng_state()),
        "NumPy's": of_numpy != _of_numpy(),
        "Python's": of_python != random.getstate(),
    }
    for name, drawn in changed.items():
        if drawn:
            raise ValueError(f"{what} draws from {name} global generator; {instead}")


def _of_numpy() -> tuple[bytes, int]:
    """NumPy's state: its numbers, and how many of them are drawn."""
    state = np.random.get_state(legacy=False)["state"]
    return state["key"].tobytes(), int(state["pos"])
