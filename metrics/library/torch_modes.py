"""Torch's modes that change results, switched off for a part of a program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

AUTOCAST = ("cpu", "cuda", "mps", "xpu")
"""The device types that are asked whether autocast is on."""


@contextmanager
def ordinary_modes() -> Iterator[None]:
    """Runs the block, or the function that it decorates, without `torch.inference_mode` and `torch.autocast`.

    The first forbids gradients, by which some exact values are found; the second makes matrix products of
    less precision than the dtype says.
    """
    with ExitStack() as modes:
        modes.enter_context(torch.inference_mode(mode=False))
        for device in AUTOCAST:
            if torch.is_autocast_enabled(device):
                modes.enter_context(torch.autocast(device, enabled=False))
        yield
