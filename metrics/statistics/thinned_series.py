"""Series of values along the run, thinned so that memory does not grow with the number of steps."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

import torch
from torch import Tensor

from metrics.metric import Context, Statistic, by_seed, restore
from metrics.requirements import require_modes
from metrics.statistics.aliasing import slow_strides, strides
from metrics.statistics.mode_occupancy import responsibility_table
from samplers.kernel import Info
from targets.spaces import Discrete

MOST_ROWS, FEWEST_ROWS, VALUES_A_SEED = 2048, 128, 2**17

TO_AND_FRO, CHANCE = 0.1, 5.0
"""Chains go to and fro where successive values correlate by less than -0.1, and by five standard errors."""

MOST_MODES = 64
"""Modes whose indicators are looked at for a period: each takes some milliseconds."""

Made = TypeVar("Made")


class ThinnedSeries(Statistic, ABC):
    """The values at the steps `start`, `start` + `stride`, `start` + 2 `stride`, ..

    When all rows are used every other one is dropped and the stride doubles, so that the stored steps depend
    on the number of steps only.

    Args:
        shape: of the values of all seeds.
        dtype: of the values.
        capacity: maximum number of rows.
        stride: steps between stored values, at first.

    Attributes:
        steps: the stored steps, ascending.
    """

    start: int = 0

    def __init__(
        self,
        context: Context,
        shape: tuple[int, ...],
        dtype: torch.dtype,
        capacity: int,
        stride: int = 1,
    ) -> None:
        super().__init__(context)
        self._rows = torch.zeros((capacity, *shape), dtype=dtype, device=context.device)
        self.steps: list[int] = []
        self.stride = stride
        self._made: dict[Callable[[Tensor], Any], Any] = {}

    @abstractmethod
    def value(self, step: int, theta: Tensor) -> Tensor:
        """The value at `step`, called at stored steps only."""

    @property
    def capacity(self) -> int:
        """Maximum number of rows."""
        return len(self._rows)

    @property
    def rows(self) -> Tensor:
        """The stored values, ``(rows, *shape)``."""
        return self._rows[: len(self.steps)]

    def made(self, make: Callable[[Tensor], Made]) -> Made:
        """`make` of the rows, once for all metrics that ask as long as these rows are the stored ones."""
        if make not in self._made:
            self._made[make] = make(self.rows)
        found: Made = self._made[make]
        return found

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        if self._has_room(step):
            self._keep(step, self.value(step, theta))

    def merge(self, other: Self) -> None:
        while self.stride < other.stride:
            self._thin()
        for step, row in zip(other.steps, other.rows, strict=True):
            if self._has_room(step):
                self._keep(step, row)

    def _has_room(self, step: int) -> bool:
        """Whether the value of `step` is to be stored; makes room for it."""
        while self._is_stored(step) and len(self.steps) == self.capacity:
            self._thin()
        return self._is_stored(step)

    def _is_stored(self, step: int) -> bool:
        return (step - self.start) % self.stride == 0

    def _keep(self, step: int, row: Tensor) -> None:
        self._made.clear()
        self._rows[len(self.steps)] = row
        self.steps.append(step)

    def _thin(self) -> None:
        self._made.clear()
        self.stride *= 2
        kept = [place for place, step in enumerate(self.steps) if self._is_stored(step)]
        for new, old in enumerate(kept):  # row by row: indexing with a list would copy it from the host
            self._rows[new] = self._rows[old]
        self.steps = [self.steps[place] for place in kept]

    def state_dict(self) -> dict[str, Any]:
        return {"stride": self.stride, "steps": list(self.steps), "rows": self.rows.clone()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`.

        Raises:
            ValueError: if the saved rows have a different shape.
        """
        saved, steps = state["rows"], [int(step) for step in state["steps"]]
        expected = (len(steps), *self._rows.shape[1:])
        if tuple(saved.shape) != expected or len(steps) > self.capacity:
            raise ValueError(
                f"the series must have at most {self.capacity} rows of the shape {expected[1:]}, "
                f"{tuple(saved.shape)} was saved"
            )
        self._made.clear()
        self.steps, self.stride = steps, int(state["stride"])
        self.rows.copy_(saved)


class ChainSeries(ThinnedSeries):
    """A scalar of each chain, ``(rows, seeds, chains)``.

    There are at most `Context.series_steps` rows. Where that is 0 there are 2,048 at most; with many chains
    fewer (131,072 values per seed), but at least 128.

    Attributes:
        successive: correlation of the values of successive steps, ``(seeds,)``, over the steps before the
            first thinning, of which all were kept; NaN before it.
        aliased: whether every second, fourth, .. of these steps looks slower than the chain is
            (`metrics.statistics.aliasing`), ``(strides, seeds)``.
    """

    def __init__(self, context: Context, dtype: torch.dtype) -> None:
        capacity = self.capacity_of(context, context.chains)
        super().__init__(context, (context.seeds, context.chains), dtype, capacity)
        self.successive = torch.full((context.seeds,), torch.nan, dtype=torch.float64, device=context.device)
        shape = (len(strides(capacity)), context.seeds)
        self.aliased = torch.zeros(shape, dtype=torch.bool, device=context.device)

    @property
    def to_and_fro(self) -> Tensor:
        """Of which seeds, ``(seeds,)``, the stored steps mislead, since the chains go to and fro in between.

        Every second, fourth, .. step of a chain of period 2 looks frozen, every fourth of one of period 4.
        Not seen are a period above an eighth of the capacity, one that chains have only after the first
        thinning, and at strides above a 64th of the capacity one of less than a quarter of the variance. Odd
        periods, such as 3, do not look frozen.
        """
        noise = CHANCE / math.sqrt(self.capacity * self.context.chains)
        mislead = self.successive < -max(TO_AND_FRO, noise)
        if self.stride > 1 and len(self.aliased):
            # What turns round in a shorter stride does so in a longer one, unless it is lost in between.
            mislead = mislead | self.aliased[min(self.stride.bit_length() - 1, len(self.aliased)) - 1]
        return mislead & (self.stride > 1)

    def correlation(self, values: Tensor) -> Tensor:
        """The correlation, a scalar, of successive rows of a seed's `values` ``(rows, chains)``."""
        centred = values.double() - values.double().mean()
        return (centred[1:] * centred[:-1]).mean() / centred.square().mean()

    def parts(self, values: Tensor) -> Tensor:
        """A seed's `values` ``(rows, chains)`` as numbers whose size means something, of mean 0 or so.

        Their shape is ``(rows, numbers, chains)``.
        """
        exact = values.double()
        return (exact - exact.mean()).unsqueeze(1)

    def merge(self, other: Self) -> None:
        whole = self.stride == 1
        super().merge(other)
        if whole and other.stride > 1:  # it kept all of more steps than are here
            self.successive.copy_(other.successive)
            self.aliased.copy_(other.aliased)

    def _thin(self) -> None:
        if self.stride == 1:
            rows = self.rows.movedim(1, 0)
            self.successive.copy_(by_seed(self.correlation, rows))
            self.aliased.copy_(by_seed(lambda values: slow_strides(self.parts(values)), rows).movedim(0, 1))
        super()._thin()

    def state_dict(self) -> dict[str, Any]:
        own = {"successive": self.successive.clone(), "aliased": self.aliased.clone()}
        return {**super().state_dict(), **own}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`; one without `aliased` has none.

        Raises:
            ValueError: if the saved rows have a different shape, or come from a version that did not save how
                successive values correlate and has dropped some.
        """
        if "successive" in state:
            restore("successive", self.successive, state["successive"])
        elif int(state["stride"]) > 1:
            raise ValueError("the series was saved without the correlation of successive values")
        if "aliased" in state:
            restore("aliased", self.aliased, state["aliased"])
        super().load_state_dict(state)

    @staticmethod
    def capacity_of(context: Context, values: int) -> int:
        """Maximum number of rows for so many values of a seed at each step."""
        return context.series_steps or max(FEWEST_ROWS, min(MOST_ROWS, VALUES_A_SEED // values)) // 2 * 2


class LogProbSeries(ChainSeries):
    """U(theta) along the chains; costs one evaluation of the target at each stored step."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, context.target.like().dtype)

    def value(self, step: int, theta: Tensor) -> Tensor:
        return self.context.target.log_prob(theta)


class ModeSeries(ChainSeries):
    """Number of the mode with the largest responsibility along the chains, int16."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, torch.int16)
        self.target = require_modes("mode series", context)
        table = responsibility_table(context)
        self.mode_of_state = None if table is None else table.argmax(-1)

    def value(self, step: int, theta: Tensor) -> Tensor:
        space = self.context.target.space
        if self.mode_of_state is not None and isinstance(space, Discrete):
            return self.mode_of_state[space.index(theta)]
        return self.target.responsibilities(theta).argmax(-1)

    def correlation(self, values: Tensor) -> Tensor:
        """That of the indicators of the modes together, as their numbers mean nothing."""
        shares = [(values == mode).double().mean() for mode in range(len(self.target.modes))]
        chance = torch.stack(shares).square().sum()
        return ((values[1:] == values[:-1]).double().mean() - chance) / (1.0 - chance)

    def parts(self, values: Tensor) -> Tensor:
        modes = torch.arange(min(MOST_MODES, len(self.target.modes)), device=values.device)
        return (values.unsqueeze(1) == modes.unsqueeze(-1)).float()  # sums of a few are exact
