"""What a kernel serves: a target, only its own if it was prepared, and states whose caches are its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from torch import Tensor

from targets.checks import described
from targets.target import Target


class PreparedTarget:
    """Refuses targets other than the one that a kernel was prepared for, without a look at any number.

    Targets are the same if they share their parameters: a shallow copy is the target itself. A deep copy of
    the kernel, or one of another dtype, serves the first target that it is given, and no other from then on.

    Args:
        target: what the kernel was prepared for; None where the first step will tell.
    """

    def __init__(self, target: Target | None = None) -> None:
        self._shared = None if target is None else target._parameters

    def to(self, like: Tensor) -> PreparedTarget:
        """That of a copy with the dtype and device of `like`, whose target may be a copy as well."""
        return PreparedTarget()

    def __deepcopy__(self, memo: dict[int, Any]) -> PreparedTarget:
        return PreparedTarget()

    def check(self, target: Target) -> None:
        """Raises ValueError for another target than the one prepared for."""
        if self._shared is target._parameters:
            return
        if self._shared is not None:
            raise ValueError(
                f"target must be the one that the kernel was prepared for, another ({described(target)}) was "
                "given; prepare the kernel for it"
            )
        self._shared = target._parameters


def of_a_target(method: Callable[..., Any]) -> Callable[..., Any]:
    """`method` of a kernel, whose first argument is a target; that it was prepared for, if it was for one.

    That it is a target at all is only looked at where the method fails.
    """

    @functools.wraps(method)
    def checked(self: Any, target: Any, *others: Any, **named: Any) -> Any:
        try:
            if self.prepared_target is not None:
                self.prepared_target.check(target)
            return method(self, target, *others, **named)
        except AttributeError as error:
            if hasattr(target, "space"):
                raise
            raise TypeError(
                "target must be a targets.Target with a space, such as FunctionTarget(function, Binary(10)), "
                f"{described(target)} was given; runner.sample takes a function and its space"
            ) from error

    return checked


class CacheMark:
    """Tells the states whose auxiliaries hold the caches of one prepared kernel from all others.

    Attributes:
        text: what ``State.cached_by`` says in its own states; of no other kernel, in any process.
    """

    def __init__(self) -> None:
        self.text = uuid4().hex

    def to(self, like: Tensor) -> CacheMark:
        """That of a copy with the dtype and device of `like`, whose caches are others."""
        return CacheMark()

    def owns(self, cached_by: str | None) -> bool:
        """Whether the caches of a state with this ``cached_by`` are its own; not where it has none.

        Raises:
            ValueError: if they are those of another prepared kernel.
        """
        if cached_by is None:
            return False
        require_same_caches(cached_by, self.text)
        return True


def require_same_caches(given: str | None, needed: str | None) -> None:
    """Raises ValueError if the caches of a state, by its ``cached_by``, are not the ones that are needed."""
    if given != needed:
        raise ValueError(
            "state must be one of this prepared kernel, one of another was given; "
            "kernel.refreshed(target, state, beta) makes it one of its own"
        )
