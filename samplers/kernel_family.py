"""The kernels that differ from a given one in their step size alone."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from samplers.hyperparameters import check_ladder_sizes, one_number, positive
from samplers.inverse_temperatures import along_first
from samplers.kernel import Kernel
from targets.checks import positive_number
from targets.target import Target

KernelFamily = Callable[[Tensor], Kernel]
"""From a step size, a tensor that broadcasts over the batch axes, to the kernel that has it."""

EXAMPLES = (1.0, *(2.0 ** (sign * power) for power in range(1, 21) for sign in (-1, 1)))
"""Step sizes from 1 outwards, of which a kernel takes one."""


def takes_step_size(cls: type[Kernel]) -> bool:
    """Whether the constructor takes a step size (`Kernel.step_name`) that can differ from chain to chain."""
    return cls.tensor_step_size and cls.step_name in inspect.signature(cls).parameters


@functools.cache
def _arguments(cls: type[Kernel]) -> tuple[str, ...]:
    return tuple(inspect.signature(cls).parameters)


def first_built(at: Callable[[float], Kernel]) -> Kernel:
    """The kernel of `at` with the step size nearest to 1 that it takes, of the powers of two.

    It stands for its family where no step size is known yet: constructors may refuse those out of a range.

    Raises:
        ValueError: as ``at(1.0)``, if it takes none.
    """
    refused = None
    for size in EXAMPLES:
        try:
            return at(size)
        except ValueError as error:
            refused = refused or error
    assert refused is not None
    raise refused


def family_of(kernel: Kernel) -> KernelFamily:
    """The constructor of `kernel` with all its arguments but the step size.

    By convention a kernel keeps the arguments of its constructor as attributes of the same names.

    Raises:
        ValueError: if it does not keep one of them.
    """
    cls: Any = type(kernel)
    others = [name for name in _arguments(cls) if name != cls.step_name]
    for name in others:
        if not hasattr(kernel, name):
            raise ValueError(
                f"kernel must keep its constructor's argument {name} as an attribute, so that it can be "
                f"built with another step size; {cls.__name__} does not"
            )
    found = {name: getattr(kernel, name) for name in others}

    def at(step_size: Tensor) -> Kernel:
        same: Kernel = cls(**{cls.step_name: step_size}, **found)
        return same

    return at


def resized(kernel: Kernel, step_sizes: Tensor) -> Kernel:
    """`kernel`, which was built with every size that chains may have, with those that they have now.

    Its method `resized`, if it has one, keeps what follows from all the sizes.
    """
    own: KernelFamily | None = getattr(kernel, "resized", None)
    return (own or family_of(kernel))(step_sizes)


def require_family(kernel: Kernel) -> None:
    """Raises ValueError if `kernel` takes a step size, but cannot be built with another one."""
    if takes_step_size(type(kernel)):
        family_of(kernel)


def check_step_sizes(kernel: Kernel, step_sizes: Tensor | None, target: Target) -> None:
    """Raises ValueError if `kernel` with one of these step sizes does not serve `target`."""
    if step_sizes is not None:
        family_of(kernel)(step_sizes).check(target)


def ladder_step_sizes(
    kernel: Kernel, given: Any, rungs: int | None, words: Sequence[str] = ()
) -> Tensor | None:
    """One step size, a scalar, or one for each of `rungs` ``(K,)``, float64; None where no number is given.

    Args:
        kernel: what the ladder tempers.
        rungs: K; None where it is not known yet.
        words: such as ``auto``, that may be given in place of numbers.

    Raises:
        ValueError: if it does not go with the kernel or the ladder.
    """
    if given is None:
        return None
    if hasattr(given, "tolist") and not isinstance(given, Tensor):
        given = given.tolist()  # an array
    cls = type(kernel)
    check_ladder_sizes(given, rungs, cls.__name__, takes=takes_step_size(cls), words=words)
    if isinstance(given, str):
        return None
    if isinstance(given, Sequence):
        numbers = [positive_number("step_size", one_number(value)) for value in given]
        return torch.tensor(numbers, dtype=torch.float64)
    sizes = positive("step_size", given)
    fit_ladder(sizes, rungs)
    if not bool(((sizes > 0) & sizes.isfinite()).all()):
        raise ValueError(f"step_size must be positive and finite, {sizes.tolist()!r} was given")
    return sizes


def rung_step_sizes(
    kernel: Kernel, step_size: Any, rungs: int | None, words: Sequence[str] = ()
) -> Tensor | None:
    """`ladder_step_sizes`, or where none are given the step size of the kernel itself, if it has one."""
    if step_size is None and takes_step_size(type(kernel)):
        own = getattr(kernel, kernel.step_name, None)
        if not isinstance(own, Tensor):
            return None
        fit_ladder(own, rungs)
        return own
    return ladder_step_sizes(kernel, step_size, rungs, words)


def fit_ladder(sizes: Tensor, rungs: int | None) -> None:
    """Raises ValueError unless a tensor of step sizes holds one, or one for each of `rungs`, where known."""
    numbers = {1, sizes.numel() if rungs is None else rungs} - {0}
    if sizes.dim() > 1 or sizes.numel() not in numbers:
        each = "rung of the ladder" if rungs is None else f"of the {rungs} rungs of the ladder"
        raise ValueError(
            f"step_size must be one number or one for each {each}, a tensor of shape {tuple(sizes.shape)} "
            "was given"
        )


class RungKernels:
    """A kernel on all rungs of a ladder at once, each with a step size of its own.

    Args:
        kernel: what stands on every rung.
        step_sizes: one for each rung ``(K,)``; None for those of `kernel`.
        target: for which the kernels are `Kernel.specialised`, if any.
    """

    def __init__(self, kernel: Kernel, step_sizes: Tensor | None, target: Target | None = None) -> None:
        self.base, self.step_sizes, self._target = kernel, step_sizes, target
        self.family = None if step_sizes is None else family_of(kernel)
        if self.family is not None and step_sizes is not None:
            self.family(step_sizes)  # refuses sizes that the kernel cannot have
        self._laid: dict[int, Kernel] = {}

    def to(self, like: Tensor) -> RungKernels:
        """A copy whose step sizes have the dtype and device of `like`."""
        step_sizes = None if self.step_sizes is None else self.step_sizes.to(like)
        return RungKernels(self.base.to(like), step_sizes, self._target)

    def specialised(self, target: Target) -> RungKernels:
        """A copy whose kernels are faster on this target, as `Kernel.specialised` has it, if there is one."""
        base = self.base.specialised(target)
        return self if base is self.base else RungKernels(base, self.step_sizes, target)

    def laid(self, axes: int) -> Kernel:
        """For states of so many batch axes, of which the ladder is the first; built once for each number."""
        if self.family is None or self.step_sizes is None:
            return self.base
        if axes not in self._laid:
            self._laid[axes] = self._of(self.family(along_first(self.step_sizes, axes)))
        return self._laid[axes]

    def rung(self, k: int) -> Kernel:
        """The kernel of rung k alone, 0 the cold one."""
        if self.family is None or self.step_sizes is None:
            return self.base
        return self._of(self.family(self.step_sizes[k]))

    def _of(self, kernel: Kernel) -> Kernel:
        return kernel if self._target is None else kernel.specialised(self._target)
