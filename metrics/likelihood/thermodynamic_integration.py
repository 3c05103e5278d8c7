"""log Z by thermodynamic integration along the ladder of parallel tempering, from the energies there."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from metrics.likelihood.target_log_partition import known_log_partition
from metrics.metric import Context, Metric, UnsupportedMetric, by_seed
from metrics.requirements import require_replicas
from metrics.statistics.sums import Sums
from samplers.kernel import Info
from samplers.tempering.parallel_tempering import ParallelTempering
from targets.lattice.infinite_lattice import known_infinite_lattice
from targets.spaces import Discrete


class RungSlopes(Sums):
    """Sums over steps of U and of its square on every rung, ``(seeds, rungs, chains)``, float64.

    Of U minus a fixed value that is close to it, so that the variance loses no digits.
    """

    saved = ("shift",)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        rungs = require_replicas("rung slopes", context)
        self.shift = torch.zeros((context.seeds, rungs, 1), dtype=torch.float64, device=context.device)
        self.slope = self.zeros("slope", context.seeds, rungs, context.chains)
        self.square = self.zeros("square", context.seeds, rungs, context.chains)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        assert info.slopes is not None
        slopes = info.slopes.double().movedim(1, 0)
        if not self.steps:
            self.shift = slopes.mean(-1, keepdim=True)
        slopes = slopes - self.shift
        self.slope.add_(slopes)
        self.square.addcmul_(slopes, slopes)
        self.steps += 1

    def merge(self, other: Self) -> None:
        own, theirs = self.shift, other.shift.to(self.shift)
        if not self.steps:
            self.shift = own = theirs
        # The other's sums as if it had subtracted this one's value.
        slope, square = (other.sums[name].to(own) for name in ("slope", "square"))
        apart = theirs - own
        self.slope.add_(slope + other.steps * apart)
        self.square.add_(square + 2.0 * apart * slope + other.steps * apart.square())
        self.steps += other.steps


class ThermodynamicIntegration(Metric):
    """log Z = log Z_0 + integral of <U>_beta over beta from 0 to 1, from the mean U on every rung.

    Z_0 is the number of states, and d<U>/dbeta is the variance of U at beta, so that between neighbouring
    rungs the corrected trapezoidal rule h (f_0 + f_1) / 2 - h^2 (f_1' - f_0') / 12 is used, whose error is of
    order h^5 (Gelman and Meng 1998; Friel, Hurn and Wyse 2014).

    Values, one per seed:
        log_z: the estimate, in nats.
        log_z_trapezoid: by the plain trapezoidal rule, which errs by the ladder's coarseness.
        log_z_exact: where the target knows it.
        log_z_infinite: the same number of sites of the infinite lattice, where it is known.

    Raises:
        UnsupportedMetric: if the kernel is no parallel tempering on a discrete space with a ladder down to 0,
            or states have density zero, whose number is not known.
    """

    name = "log_z"
    unit = "nats"
    bounds = (-math.inf, math.inf)
    direction = None

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        require_replicas(self.name, context)
        kernel, space = context.kernel, context.target.space
        if context.target.constrained:
            raise UnsupportedMetric(
                f"{self.name} needs a target with a positive density at every state; "
                f"{type(context.target).__name__} is constrained"
            )
        if (
            not isinstance(kernel, ParallelTempering)
            or not isinstance(space, Discrete)
            or kernel.betas[-1] != 0
        ):
            raise UnsupportedMetric(
                f"{self.name} needs parallel tempering on a discrete space with a ladder that ends at 0"
            )
        self.betas = kernel.betas.double().to(context.device)
        self.rungs = context.statistic(RungSlopes)
        self.log_base = space.d * math.log(space.levels)

    def result(self) -> dict[str, Tensor]:
        seen = self.rungs
        mean = by_seed(lambda row: row.mean(-1), seen.slope / seen.steps)
        variance = by_seed(lambda row: row.mean(-1), seen.square / seen.steps) - mean.square()
        mean = mean + seen.shift.squeeze(-1)
        width = self.betas[:-1] - self.betas[1:]
        plain = (width * (mean[:, :-1] + mean[:, 1:]) / 2).sum(-1)
        correction = (width.square() * (variance[:, :-1] - variance[:, 1:]) / 12).sum(-1)
        values = {self.name: self.log_base + plain - correction, "log_z_trapezoid": self.log_base + plain}
        known = {"log_z_exact": self._exact, "log_z_infinite": self._infinite}
        numbers = {name: number for name, number in known.items() if number is not None}
        return {**values, **{name: plain.new_full(plain.shape, number) for name, number in numbers.items()}}

    @cached_property
    def _exact(self) -> float | None:
        # Summing the states of a network takes minutes, and every record asks.
        return known_log_partition(self.context.target)

    @cached_property
    def _infinite(self) -> float | None:
        known = known_infinite_lattice(self.context.target)
        return self.context.target.space.d * known.log_partition if known else None
