"""The interface of a metric: it is updated with the draws of every step and gives one number per seed.

What several metrics share (a histogram of visits, a thinned series, ...) is a `Statistic`, built once per
run by `Context.statistic` and updated once per step by `metrics.suite.MetricSuite`. Updates stay on the
device.

Statistics are kept per chain or per seed, and `by_seed` reduces each seed separately, so that a seed's
numbers do not depend on the other seeds in the batch, to the last bit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeVar

import torch
from torch import Tensor

from metrics.statistic_key import statistic_key
from samplers.kernel import Info, Kernel
from targets.randomness import Streams, derive_seed
from targets.target import Target


class UnsupportedMetric(ValueError):  # noqa: N818 - not always an error: optional metrics are left out
    """The target or the kernel lacks what a metric requires; the message says in one sentence what."""


class UndrawnMetric(UnsupportedMetric):
    """The states of the kernel are no draws from the target, which the metric needs."""


class Statistic:
    """A quantity accumulated over the steps of a run; the defaults are those of one without a state.

    Attributes:
        saved: names of the attributes that a checkpoint holds: tensors of a fixed shape, and whole numbers.
    """

    saved: tuple[str, ...] = ()

    def __init__(self, context: Context) -> None:
        self.context = context

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        """Adds the draws `theta`, ``(seeds, chains, *event_shape)``, of step number `step`."""

    def merge(self, other: Self) -> None:
        """Adds what `other` accumulated over later steps of the same chains; equals one pass over both."""

    def state_dict(self) -> dict[str, Any]:
        """A copy of the accumulated state: tensors, numbers and lists of numbers."""
        values = {name: getattr(self, name) for name in self.saved}
        return {name: value.clone() if isinstance(value, Tensor) else value for name, value in values.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict` of the same run.

        Raises:
            ValueError: if a saved tensor has a different shape.
        """
        for name in self.saved:
            own = getattr(self, name)
            if isinstance(own, Tensor):
                restore(name, own, state[name])
            else:
                value = state[name]
                setattr(self, name, value.clone() if isinstance(value, Tensor) else value)


def restore(name: str, into: Tensor, saved: Tensor) -> None:
    """Copies `saved` into the tensor `into`, without broadcasting.

    Raises:
        ValueError: if the shapes differ; the message calls the tensor `name`.
    """
    if saved.shape != into.shape:
        raise ValueError(f"{name} must have the shape {tuple(into.shape)}, {tuple(saved.shape)} was saved")
    into.copy_(saved)


S = TypeVar("S", bound=Statistic)


@dataclass(frozen=True, eq=False)
class Context:
    """What the metrics of a run can use; one context belongs to one `MetricSuite`.

    Attributes:
        target: the target, on `device`.
        kernel: the kernel that is run, already tuned.
        seeds: number of seeds S in the batch.
        chains: number of chains C of each seed.
        device: device of the draws.
        metric_seed: seed of the metrics' own random numbers, which are independent of the chains'.
        seed_values: the S seeds of the runs, for metrics that use random numbers of their own per run; with
            None all runs of the batch share the same ones.
        series_steps: at how many steps, at most, the values are kept from which effective sample sizes and
            their like are computed (`metrics.statistics.thinned_series`); 0: as many as fit bounded memory.

    Raises:
        ValueError: if `seed_values` has not S entries, or `series_steps` is negative.
    """

    target: Target
    kernel: Kernel
    seeds: int
    chains: int
    device: torch.device
    metric_seed: int = 0
    seed_values: tuple[int, ...] | None = None
    series_steps: int = 0
    statistics: dict[str, Statistic] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.seed_values is not None and len(self.seed_values) != self.seeds:
            raise ValueError(f"seed_values must name {self.seeds} seeds, {len(self.seed_values)} were given")
        if self.series_steps < 0:
            raise ValueError(f"series_steps must be 0 or more, {self.series_steps} was given")

    def statistic(self, cls: type[S], **args: Any) -> S:
        """The statistic `cls` with these arguments, built on first use and shared afterwards.

        Raises:
            ValueError: for an argument by whose value it cannot be found again, see `statistic_key`.
        """
        key = statistic_key(cls, args)
        if key not in self.statistics:
            self.statistics[key] = cls(self, **args)
        found = self.statistics[key]
        assert isinstance(found, cls)
        return found

    def generator(self, purpose: str) -> torch.Generator:
        """A CPU generator for random numbers that all runs share, such as one random feature map."""
        return torch.Generator().manual_seed(derive_seed(self.metric_seed, f"metric/{purpose}"))

    def streams(self, purpose: str) -> Streams:
        """CPU streams, one per run, for random numbers that differ between runs."""
        seeds = self.seed_values or (self.metric_seed,) * self.seeds
        return Streams(seeds, f"metric/{purpose}/{self.metric_seed}")


class Metric(Statistic, ABC):
    """A measured quantity, or a few that belong together.

    A subclass calls `super().__init__`, checks its requirements (`metrics.requirements`) and asks the context
    for the statistics that it reads. It overrides `update` and `merge`, and sets `saved`, only if it has a
    state of its own.

    Attributes:
        name: the metric's name in configurations, and its value's name in results.
        unit: unit of the value.
        bounds: the least and the largest value that it can have; its intervals are drawn no further.
        direction: whether small (``min``) or large (``max``) values are better; None where neither is.
        supports_levels: whether it handles chains that move between temperatures, where only draws with
            `Info.level` 0 are from the target; `MetricSuite` refuses other metrics for such kernels.
        needs_draws: whether it says something of the target only if the states are draws from it;
            `MetricSuite` refuses it for other kernels, such as simulated annealing.

    Raises:
        UnsupportedMetric: if the target or the kernel lacks what it requires.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    bounds: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    direction: ClassVar[Literal["min", "max"] | None] = None
    supports_levels: ClassVar[bool] = False
    needs_draws: ClassVar[bool] = True

    @abstractmethod
    def result(self) -> dict[str, Tensor]:
        """The values by name, each with one number per seed: ``(seeds,)``, float64."""


def by_seed(function: Callable[[Tensor], Tensor], values: Tensor) -> Tensor:
    """`function` of each seed's part of `values` ``(seeds, ...)``, stacked along the first axis.

    Each part is a fresh contiguous tensor, since the rounding of batched sums and products depends on the
    batch composition.
    """
    return torch.stack([function(part.clone()) for part in values])
