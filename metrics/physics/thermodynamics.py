"""Energy, specific heat, magnetisation and Binder's cumulant, with jackknife errors and exact values."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from metrics.metric import Context, Metric
from metrics.requirements import enumerable
from metrics.statistics.jackknife import jackknife
from metrics.statistics.order_parameter_series import OrderParameterSeries, order_parameter
from metrics.statistics.thinned_series import ChainSeries, LogProbSeries
from targets.exact_moments import energy_moments
from targets.lattice.infinite_lattice import known_infinite_lattice
from targets.spaces import Discrete
from targets.target import Enumerable, HasLogPartition

LISTED, AT_ONCE = 2**20, 2**16
"""Most states whose exact averages are summed, and of how many the target is evaluated at once."""

Numbers = NDArray[np.float64]


class ThermalAverage(Metric):
    """A function of means over the draws, per seed: its value and its standard error.

    Values, one per seed:
        NAME: the function of the means.
        NAME_error: its jackknife standard error over chains, or blocks of them.
        NAME_exact: the exact value, where it is known.
        NAME_deviation: the difference in standard errors, where it is known.
        NAME_infinite: the value of the infinite lattice, where it is known.
    """

    statistic: ClassVar[type[ChainSeries]]

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.series = context.statistic(self.statistic)
        self.d = context.target.space.d
        self._exact: float | None = None
        self._infinite: float | None = None

    @abstractmethod
    def moments(self, values: Numbers) -> Numbers:
        """What is averaged, ``(k, *values.shape)``."""

    @abstractmethod
    def estimate(self, means: Numbers) -> Numbers:
        """The function of the means ``(k, *batch)``."""

    def observable(self, theta: Tensor) -> Tensor:
        """What the series holds, ``(*batch)``."""
        return self.context.target.log_prob(theta)

    def exact(self) -> float:
        """The exact value; NaN where it is not known. At most 2^20 states are summed."""
        target = self.context.target
        if not enumerable(target) or not isinstance(target.space, Discrete) or target.space.size > LISTED:
            return math.nan
        weights = cast(Enumerable, target).probabilities().double().cpu().numpy()
        like = target.like()
        blocks = torch.split(target.space.states(like.dtype), AT_ONCE)
        values = torch.cat([self.observable(block.to(like)) for block in blocks]).double().cpu().numpy()
        possible = weights > 0.0  # U of the others may be minus infinity, and 0 times that is NaN
        return float(self.estimate(self.moments(values[possible]) @ weights[possible]))

    def infinite(self) -> float:
        """The value of the infinite lattice; NaN where it is not known."""
        return math.nan

    def result(self) -> dict[str, Tensor]:
        rows = self.series.rows
        series = np.ascontiguousarray(rows.double().movedim(1, 0).cpu().numpy())
        pairs = [jackknife(self.moments(of_seed), self.estimate) for of_seed in series]
        value, error = torch.tensor(pairs, dtype=torch.float64, device=rows.device).unbind(-1)
        found = {self.name: value, f"{self.name}_error": error}
        if self._exact is None or self._infinite is None:
            self._exact, self._infinite = self.exact(), self.infinite()
        if not math.isnan(self._infinite):
            found[f"{self.name}_infinite"] = torch.full_like(value, self._infinite)
        if math.isnan(self._exact):
            return found
        exact = torch.full_like(value, self._exact)
        deviation = (value - exact) / error.masked_fill(error == 0, math.nan)
        return {**found, f"{self.name}_exact": exact, f"{self.name}_deviation": deviation}


class Energy(ThermalAverage):
    """Mean of U per site: minus the energy over k_B T; costs one evaluation of the target a stored step."""

    name = "energy"
    unit = "nats a site"
    statistic = LogProbSeries

    def moments(self, values: Numbers) -> Numbers:
        return values[None] / self.d

    def estimate(self, means: Numbers) -> Numbers:
        return np.asarray(means[0])

    def exact(self) -> float:
        known = _energy_moments(self.context.target)
        return known[0] / self.d if known else super().exact()

    def infinite(self) -> float:
        known = known_infinite_lattice(self.context.target)
        return known.energy if known else super().infinite()


class SpecificHeat(ThermalAverage):
    """Variance of U per site: the specific heat in units of k_B."""

    name = "specific_heat"
    unit = "k_B a site"
    bounds = (0.0, math.inf)
    statistic = LogProbSeries

    def moments(self, values: Numbers) -> Numbers:
        # About a rough mean, so that the difference of the two terms loses no digits.
        centred = values - float(values.flat[0])
        return np.stack([centred, centred**2])

    def estimate(self, means: Numbers) -> Numbers:
        return np.asarray((means[1] - means[0] ** 2) / self.d)

    def exact(self) -> float:
        known = _energy_moments(self.context.target)
        return known[1] / self.d if known else super().exact()


class _OrderParameter(ThermalAverage):
    statistic = OrderParameterSeries

    def observable(self, theta: Tensor) -> Tensor:
        return order_parameter(self.context.target, theta)


class Magnetisation(_OrderParameter):
    """Mean absolute order parameter per site; of the infinite lattice the spontaneous magnetisation.

    Raises:
        UnsupportedMetric: if the target has no order parameter.
    """

    name = "magnetisation"
    unit = "a site"
    bounds = (0.0, 1.0)

    def moments(self, values: Numbers) -> Numbers:
        return np.abs(values)[None]

    def estimate(self, means: Numbers) -> Numbers:
        return np.asarray(means[0])

    def infinite(self) -> float:
        known = known_infinite_lattice(self.context.target)
        return known.magnetisation if known else super().infinite()


class BinderCumulant(_OrderParameter):
    """Binder's cumulant 1 - <m^4> / (3 <m^2>^2) of the order parameter m.

    It is 0 where m is normal, as in the disordered phase, and 2/3 where |m| is fixed.

    Source: Binder (1981), Eq. 2.

    Raises:
        UnsupportedMetric: if the target has no order parameter.
    """

    name = "binder"
    unit = "ratio"
    bounds = (-math.inf, 0.6666666666666666)  # 2/3: the catalogue reads literals

    def moments(self, values: Numbers) -> Numbers:
        return np.stack([values**2, values**4])

    def estimate(self, means: Numbers) -> Numbers:
        with np.errstate(all="ignore"):
            return np.asarray(1.0 - means[1] / (3.0 * means[0] ** 2))


def _energy_moments(target: Any) -> tuple[float, float] | None:
    """Exact mean and variance of U; None where log Z is not known, or not as a function to differentiate."""
    if not isinstance(target, HasLogPartition):
        return None
    try:
        return energy_moments(target)
    except ValueError:
        return None
