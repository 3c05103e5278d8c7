"""The kernel that a tempering wrapper is given, which may itself have an open step size."""

from __future__ import annotations

from samplers.kernel import Kernel
from samplers.kernel_family import takes_step_size
from samplers.tuning.tunable import Tunable


def inner_kernel(sampler: Kernel | Tunable) -> Kernel:
    """The kernel to be tempered; an open step size is left to the wrapper, which has one for each rung.

    Raises:
        ValueError: if anything else is open, or the kernel is tempered already.
    """
    kernel = sampler.example if isinstance(sampler, Tunable) else sampler
    if kernel.axes or kernel.has_levels:
        raise ValueError(f"kernel must not be tempered already, {type(kernel).__name__} was given")
    if not kernel.temperable:
        raise ValueError(f"kernel must serve inverse temperatures below 1, {type(kernel).__name__} does not")
    if isinstance(sampler, Tunable):
        more = [name for name in sampler.open if name != "step_size"]
        if more == ["balancing"] and takes_step_size(type(kernel)):
            raise ValueError("balancing must be a number from 0.5 to 1 inside a ladder, 'auto' was given")
        if more or not takes_step_size(type(kernel)):
            raise ValueError(f"kernel must be given with its {sampler.open[0]}, 'auto' was given")
    return kernel
