"""Which form of a kernel takes the fastest steps: compiled ones look up what plain ones keep in the state."""

from __future__ import annotations

from torch import Tensor

from samplers.kernel import Kernel
from targets.target import Target


def fastest_kernel(kernel: Kernel, target: Target, beta: Tensor, *, compiled: bool) -> Kernel:
    """A kernel with the same distribution whose steps are the fastest on `target` at `beta`.

    Args:
        beta: as that of `Kernel.prepared`.
        compiled: whether its steps will be compiled. Such steps look up a move's probability where there is
            a table of them (`Kernel.specialised`), which is faster than keeping it in the state.
    """
    if compiled and (specialised := kernel.specialised(target)) is not kernel:
        return specialised
    return kernel.prepared(target, beta)
