"""Whether steps change what a kernel or its target holds, which no checkpoint keeps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from samplers.kernel import Kernel
from targets.target import Target
from targets.trial.attributes import Attributes, attributes, changed

CACHE = "a cache is an attribute that __getstate__ leaves out or empties"


class Held(NamedTuple):
    """What a kernel and its target hold at some time."""

    kernel: Attributes
    target: Attributes


def held(kernel: Kernel, target: Target) -> Held:
    """What both hold now."""
    return Held(attributes(kernel), attributes(target))


def check_unchanged(kernel: Kernel, target: Target, times: Sequence[Held]) -> None:
    """Refuses a kernel whose steps changed an attribute of it or of the target between any of `times`.

    A checkpoint has the state alone: a run that is taken up would go on with other numbers, without a word.

    Raises:
        ValueError: naming the attribute.
    """
    name, base = type(kernel).__name__, getattr(kernel, "base", None)
    around = f"{type(base).__name__} inside {name}" if isinstance(base, Kernel) else name
    for before, after in pairwise(times):
        if said := changed(before.kernel, after.kernel):
            raise ValueError(
                f"{name}.step must change no attribute of {around}, which a checkpoint does not keep, it "
                f"changed {said}; what a step remembers belongs in State.aux, {CACHE}"
            )
        if said := changed(before.target, after.target):
            raise ValueError(
                f"the target {type(target).__name__} must not change its attributes when it is evaluated, as "
                f"a checkpoint does not keep them, a step of {name} changed {said}; {CACHE}"
            )
