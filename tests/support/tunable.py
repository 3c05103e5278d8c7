"""A sampler with open hyperparameters, and parts of its pilot run to their end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from samplers import Kernel, Tunable, configured
from samplers.pilot_run import PilotRun, Steps
from targets import Target
from targets.randomness import Generator

Result = TypeVar("Result")


def tunable(cls: type[Kernel], *kernel: Any, **settings: Any) -> Tunable:
    """`configured`, where something is open."""
    sampler = configured(cls, *kernel, **settings)
    assert isinstance(sampler, Tunable)
    return sampler


def piloted(
    part: Callable[[PilotRun[Result]], Steps[Result]], target: Target, generator: Generator
) -> Result:
    """What a part of a full pilot finds."""
    return PilotRun(lambda _, run: part(run), target, generator).to_end()
