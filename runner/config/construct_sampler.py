"""From a sampler's configuration node to a kernel of numbers, or to what tunes it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from runner.config.construct import construct
from runner.execution.errors import UserError
from runner.integrity.own_code import is_ours
from samplers.kernel import Kernel
from samplers.tuning.configured import builder_of
from samplers.tuning.tunable import Tunable, fixed


def construct_sampler(described: Mapping[str, Any], key: str) -> Kernel | Tunable:
    """The sampler that `described`, the node at `key`, describes.

    Raises:
        UserError: if it cannot be built or is no `Kernel`.
    """
    sampler: Kernel | Tunable = construct(described, key, (Kernel, Tunable), via=_builder)
    return sampler


def _builder(cls: Callable[..., Any]) -> Callable[..., Any]:
    """`builder_of`, with a check that a kernel is set up."""
    build = builder_of(cls)

    @functools.wraps(build, updated=())
    def checked(**given: Any) -> Any:
        built = build(**given)
        if isinstance(built, Kernel | Tunable):
            _require_set_up(fixed(built))
        return built

    return checked


def _require_set_up(kernel: Kernel) -> None:
    """Refuses a kernel whose constructor has not called that of a base of ours, which sets what it needs.

    Raises:
        UserError: naming the class, and what is not there.
    """
    cls = type(kernel)
    home = next(each for each in cls.__mro__ if "needs_gradient" in vars(each))
    try:
        _ = kernel.needs_gradient
    except AttributeError as error:
        if not is_ours(home):
            raise
        raise UserError(
            f"The sampler {cls.__module__}.{cls.__qualname__} must call super().__init__() in its "
            f"__init__, since that sets {error.name!r}."
        ) from error
