"""What a kernel that tempers another one takes over from it."""

from __future__ import annotations

from samplers.inverse_temperatures import require_temperable
from samplers.kernel import Kernel, State
from targets.randomness import Generator
from targets.target import Target


class AroundKernel(Kernel):
    """A kernel whose moves are those of `base` at inverse temperatures of its own.

    Args:
        kernel: any kernel that is not tempered; it becomes `base`.
    """

    tensor_step_size = False

    def __init__(self, kernel: Kernel) -> None:
        require_temperable(kernel)
        self.base = kernel

    @property
    def persistent_aux(self) -> tuple[str, ...]:
        return self.base.persistent_aux

    @property
    def needs_gradient(self) -> bool:
        return self.base.needs_gradient

    def check(self, target: Target) -> None:
        self.base.check(target)

    def drawn(self, state: State, generator: Generator) -> State:
        return self.base.drawn(state, generator)
