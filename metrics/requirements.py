"""What metrics require of a target or a kernel, checked when they are built.

The protocols of `targets.target` are checked member by member: from Python 3.12 on, `isinstance` does not
find the buffers of a module, and a target's modes may be a buffer.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from torch import Tensor

from metrics.metric import Context, UnsupportedMetric
from samplers.kernel import Kernel
from targets import Discrete, Enumerable, HasModes, Target

LISTABLE = 2**22
"""Largest number of states that `targets.spaces.Discrete.states` lists."""


def require_enumeration(metric: str, context: Context) -> tuple[Discrete, Tensor]:
    """The target's space and the exact probabilities of its states, ``(size,)``, float64.

    Raises:
        UnsupportedMetric: if the states cannot be listed.
    """
    target = context.target
    if isinstance(target.space, Discrete) and target.space.size <= LISTABLE and not enumerable(target):
        raise UnsupportedMetric(
            f"{metric} needs the exact probabilities of all states; {_name(target)} has no method "
            "probabilities() that gives them"
        )
    if not enumerable(target):
        raise UnsupportedMetric(
            f"{metric} needs a target whose states can be listed; those of {_name(target)} cannot"
        )
    probabilities = cast(Enumerable, target).probabilities()
    return cast(Discrete, target.space), probabilities.to(context.device).double()


def require_modes(metric: str, context: Context, minimum: int = 1) -> HasModes:
    """The target, which must have known modes.

    Raises:
        UnsupportedMetric: if it has none, or fewer than `minimum`.
    """
    members = ("modes", "responsibilities")
    target = cast(HasModes, require_members(metric, context, members, "with known modes; {} has none"))
    found = len(target.modes)
    if found < minimum:
        raise UnsupportedMetric(
            f"{metric} needs a target with at least {minimum} modes; {_name(context.target)} has {found}"
        )
    return target


def require_members(metric: str, context: Context, members: Collection[str], need: str) -> Target:
    """The target, which must have all `members`.

    Args:
        need: the end of the message, with ``{}`` for the target: ``with known modes; {} has none``.

    Raises:
        UnsupportedMetric: if a member is missing or None.
    """
    target = context.target
    if any(getattr(target, member, None) is None for member in members):
        raise UnsupportedMetric(f"{metric} needs a target {need.format(_name(target))}")
    return target


def require_replicas(metric: str, context: Context) -> int:
    """The number of replicas of a tempered kernel.

    Raises:
        UnsupportedMetric: if the kernel has no two replicas that could swap.
    """
    axes = context.kernel.axes
    if len(axes) != 1 or axes[0] < 2:
        raise UnsupportedMetric(
            f"{metric} needs a kernel with replicas that swap; {_name(context.kernel)} has none"
        )
    return axes[0]


def enumerable(target: Target) -> bool:
    """Whether the target's states can be listed with their exact probabilities."""
    listable = isinstance(target.space, Discrete) and target.space.size <= LISTABLE
    return listable and getattr(target, "probabilities", None) is not None


def _name(thing: Target | Kernel) -> str:
    return type(thing).__name__
