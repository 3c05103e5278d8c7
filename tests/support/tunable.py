"""A sampler with open hyperparameters."""

from __future__ import annotations

from typing import Any

from samplers import Kernel, Tunable, configured


def tunable(cls: type[Kernel], *kernel: Any, **settings: Any) -> Tunable:
    """`configured`, where something is open."""
    sampler = configured(cls, *kernel, **settings)
    assert isinstance(sampler, Tunable)
    return sampler
