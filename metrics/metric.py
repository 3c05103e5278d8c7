"""What a metric is: it watches the draws of a run without leaving the device and gives numbers per seed.

What several metrics need (a histogram of visits, a thinned series, ...) is a `Statistic`, built once per
run by `Context.statistic` and updated once a step by `metrics.suite.MetricSuite`.

Nothing is summed over chains or seeds while a run goes on, and `by_seed` reduces each seed on its own, so
that a seed's numbers are the same bits alone and beside other seeds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeVar

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel
from targets.randomness import Streams, derive_seed
from targets.target import Target


class UnmetNeed(ValueError):  # noqa: N818 - no fault of anyone's, and often no error
    """The target or the kernel cannot serve a metric; the message says in one sentence what is missing."""


class Statistic:
    """Something gathered while a run goes on; the defaults are those of one that holds nothing itself."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        """Takes in the draws `theta`, ``(seeds, chains, *event_shape)``, of step number `step`."""

    def merge(self, other: Self) -> None:
        """Adds what `other` gathered in a later stretch of the same chains; equals one pass over both."""

    def state_dict(self) -> dict[str, Any]:
        """Copies of all that was gathered: tensors, numbers and lists of numbers."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict` of the same run."""


S = TypeVar("S", bound=Statistic)


@dataclass(frozen=True, eq=False)
class Context:
    """What a run offers to its metrics; one context serves one `MetricSuite`.

    Attributes:
        target: the target, on `device`.
        kernel: the kernel as it runs, already tuned.
        seeds: number of seeds S in the batch.
        chains: number of chains C of each seed.
        device: where the draws are.
        metric_seed: seed of the metrics' own random numbers, which are independent of the chains'.
        seed_values: the runs' seeds, for metrics that draw anew for each run; without them all runs of
            the batch draw the same.
    """

    target: Target
    kernel: Kernel
    seeds: int
    chains: int
    device: torch.device
    metric_seed: int = 0
    seed_values: tuple[int, ...] | None = None
    statistics: dict[str, Statistic] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.seed_values is not None and len(self.seed_values) != self.seeds:
            raise ValueError(f"seed_values must name {self.seeds} seeds, {len(self.seed_values)} were given")

    def statistic(self, cls: type[S], **args: Any) -> S:
        """The one `cls` with these arguments in this run, built when it is first asked for."""
        arguments = ", ".join(f"{key}={value!r}" for key, value in sorted(args.items()))
        key = f"{cls.__module__}.{cls.__qualname__}({arguments})"
        if key not in self.statistics:
            self.statistics[key] = cls(self, **args)
        found = self.statistics[key]
        assert isinstance(found, cls)
        return found

    def generator(self, purpose: str) -> torch.Generator:
        """A generator on the CPU for random numbers that all runs share, such as one feature map."""
        return torch.Generator().manual_seed(derive_seed(self.metric_seed, f"metric/{purpose}"))

    def streams(self, purpose: str) -> Streams:
        """Streams on the CPU, one per run, for random numbers that a metric draws anew for each run."""
        seeds = self.seed_values or (self.metric_seed,) * self.seeds
        return Streams(seeds, f"metric/{purpose}/{self.metric_seed}")


class Metric(Statistic, ABC):
    """A measured quantity, or a few that belong together.

    A subclass calls `super().__init__`, checks its needs (`metrics.requirements`), and asks the context for
    the statistics that it reads; `update` and the rest are for what it keeps besides those.

    Attributes:
        name: the metric's name in configurations, and its value's name in results.
        unit: unit of the value.
        direction: whether small (``min``) or large (``max``) values are better; None where neither is.
        heeds_level: whether its values are right for chains that move between temperatures, whose draws are
            the target's only where `Info.level` is 0; the others are refused there (`MetricSuite`).

    Raises:
        UnmetNeed: if the target or the kernel cannot serve it.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    direction: ClassVar[Literal["min", "max"] | None] = None
    heeds_level: ClassVar[bool] = False

    @abstractmethod
    def result(self) -> dict[str, Tensor]:
        """Name of each value to its value per seed, ``(seeds,)``, float64."""


def by_seed(function: Callable[[Tensor], Tensor], values: Tensor) -> Tensor:
    """`function` of each seed's part of `values` ``(seeds, ...)``, stacked along a first axis.

    Each part is a fresh contiguous tensor: batched sums and products would round differently with
    different company.
    """
    return torch.stack([function(part.clone()) for part in values])
