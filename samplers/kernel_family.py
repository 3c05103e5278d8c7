"""The kernels that differ from a given one in their step size alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import Tensor

from samplers.kernel import Kernel

KernelFamily = Callable[[Tensor], Kernel]
"""From a step size, a tensor that broadcasts over the batch axes, to the kernel that has it."""


def takes_step_size(cls: type[Kernel]) -> bool:
    """Whether the constructor takes a ``step_size`` that can differ from chain to chain."""
    return cls.tensor_step_size and "step_size" in inspect.signature(cls).parameters


def family_of(kernel: Kernel) -> KernelFamily:
    """The constructor of `kernel` with all its arguments but the step size.

    By convention a kernel keeps the arguments of its constructor as attributes of the same names.

    Raises:
        ValueError: if it does not keep one of them.
    """
    cls: Any = type(kernel)
    others = [name for name in inspect.signature(cls).parameters if name != "step_size"]
    for name in others:
        if not hasattr(kernel, name):
            raise ValueError(
                f"kernel must keep its constructor's argument {name} as an attribute, so that it can be "
                f"built with another step size; {cls.__name__} does not"
            )
    found = {name: getattr(kernel, name) for name in others}

    def at(step_size: Tensor) -> Kernel:
        same: Kernel = cls(step_size=step_size, **found)
        return same

    return at
