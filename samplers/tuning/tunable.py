"""The contract of tuning: a sampler some of whose hyperparameters are open, and what finds them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from samplers.hyperparameters import AUTO
from samplers.inverse_temperatures import require_temperable
from samplers.kernel import Kernel
from samplers.kernel_family import takes_step_size
from samplers.pilot_run import PilotRun, Steps
from targets.randomness import Generator
from targets.target import Target

WARNINGS = "warnings"
"""Key in a report of the sentences of which whoever uses the tuning is warned; absent where there is none."""


@dataclass(frozen=True)
class TuningResult:
    """What a pilot found.

    Attributes:
        hyperparameters: numbers and nested lists, fit for JSON; `Tunable.kernel_at` takes them.
        evaluations: of the target, per pilot chain: all rungs or levels counted; candidates that are tried
            side by side, as step sizes are, count once, but those of ACS each.
        report: what a reader may want to know about the pilot, fit for JSON.
    """

    hyperparameters: dict[str, Any]
    evaluations: int
    report: dict[str, Any] = field(default_factory=dict)


class Tunable(ABC):
    """A kernel with open hyperparameters, those that were given as ``auto``.

    Attributes:
        open: their names.
        example: the kernel with numbers in their place. It tells what is known before the tuning: whether
            the kernel is exact, needs gradients, has levels, its axes (two replicas where their number is
            open) and which targets it serves. It is not for sampling.
    """

    open: tuple[str, ...]
    example: Kernel

    def check(self, target: Target) -> None:
        """Raises ValueError, in one sentence, if this cannot be tuned to `target`; costs nothing."""
        self.example.check(target)

    @abstractmethod
    def tuning(self, target: Target, run: PilotRun[TuningResult]) -> Steps[TuningResult]:
        """The pilot on `target`, which is no part of a recorded run; its loops are walks of `run`.

        Raises:
            ValueError: if the target cannot be tuned to.
        """

    def tune(self, target: Target, generator: Generator, effort: float = 1.0) -> TuningResult:
        """What the pilot finds, run from beginning to end.

        Args:
            effort: how much it may do, as a share of the full pilot.

        Raises:
            ValueError: if the target cannot be tuned to.
        """
        return PilotRun(self.tuning, target, generator, effort).to_end()

    @abstractmethod
    def kernel_at(self, hyperparameters: Mapping[str, Any]) -> Kernel:
        """The kernel with the hyperparameters that `tune` found."""

    def tuned(self, target: Target, generator: Generator) -> Kernel:
        """The kernel tuned to `target`."""
        return self.kernel_at(self.tune(target, generator).hyperparameters)


class Settings(Tunable):
    """All that a configuration says of a kernel with several hyperparameters that may be open.

    A subclass is a dataclass with the configuration's keys as fields, checks them in ``__post_init__`` and
    ends that with `keep`.

    Attributes:
        given: the hyperparameters that `kernel_at` takes; a word such as ``auto`` where one is open.
    """

    given: dict[str, Any]

    def keep(self, example: Kernel, **given: Any) -> None:
        """Sets `example`, `given` and `open`."""
        self.example, self.given = example, given
        self.open = tuple(name for name, value in given.items() if isinstance(value, str))

    def sampler(self) -> Kernel | Tunable:
        """The kernel where every hyperparameter is given, else this."""
        return self if self.open else self.kernel_at(self.given)


def fixed(sampler: Kernel | Tunable) -> Kernel:
    """The kernel of a sampler, or its example where something is open."""
    return sampler.example if isinstance(sampler, Tunable) else sampler


def inner_kernel(sampler: Kernel | Tunable) -> Kernel:
    """The kernel to be tempered; an open step size is left to the wrapper, which has one for each rung.

    Raises:
        ValueError: if anything else is open, or the kernel is tempered already.
    """
    kernel = fixed(sampler)
    require_temperable(kernel)
    if isinstance(sampler, Tunable):
        more = [name for name in sampler.open if name != kernel.step_name]
        if more == ["balancing"] and takes_step_size(type(kernel)):
            raise ValueError("balancing must be a number from 0.5 to 1 inside a ladder, 'auto' was given")
        needed = more if takes_step_size(type(kernel)) else sampler.open
        if needed:
            *others, last = needed
            names = f"all of {', '.join(others)} and {last}" if others else last
            raise ValueError(f"{names} must be given inside a ladder, 'auto' was given")
    return kernel


def wrapper_step_size(sampler: Kernel | Tunable, step_size: Any) -> Any:
    """The step size of a wrapper around `sampler`: ``auto`` where neither has one; a sequence as a list."""
    if step_size is None and isinstance(sampler, Tunable):
        return AUTO
    return (
        list(step_size) if isinstance(step_size, Sequence) and not isinstance(step_size, str) else step_size
    )
