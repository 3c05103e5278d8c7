"""The contract of tuning: a sampler some of whose hyperparameters are open, and what finds them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from samplers.kernel import Kernel
from targets.randomness import Generator
from targets.target import Target


@dataclass(frozen=True)
class TuningResult:
    """What a pilot found.

    Attributes:
        hyperparameters: numbers and nested lists, fit for JSON; `Tunable.kernel` takes them.
        evaluations: of the target, per pilot chain.
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
    def tune(self, target: Target, generator: Generator) -> TuningResult:
        """Runs a pilot on `target`, which is no part of a recorded run.

        Raises:
            ValueError: if the target cannot be tuned to.
        """

    @abstractmethod
    def kernel(self, hyperparameters: Mapping[str, Any]) -> Kernel:
        """The kernel with the hyperparameters that `tune` found."""

    def tuned(self, target: Target, generator: Generator) -> Kernel:
        """The kernel tuned to `target`."""
        return self.kernel(self.tune(target, generator).hyperparameters)


def fixed(sampler: Kernel | Tunable) -> Kernel:
    """The kernel of a sampler, or its example where something is open."""
    return sampler.example if isinstance(sampler, Tunable) else sampler
