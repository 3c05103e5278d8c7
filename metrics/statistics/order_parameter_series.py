"""The order parameter along the chains, and how replicas overlap."""

from __future__ import annotations

from torch import Tensor

from metrics.metric import Context, UnsupportedMetric
from metrics.statistics.thinned_series import ChainSeries, ThinnedSeries
from targets.spaces import Binary, Categorical
from targets.target import HasMagnetisation, Target


def order_parameter(target: Target, theta: Tensor) -> Tensor:
    """Order parameter per site, from -1 to 1, ``(*batch)``: the target's own, or that of independent sites.

    For bits that is the mean of 2 theta - 1; for one-hot coordinates (q m - 1) / (q - 1), with the share m of
    the most frequent level.
    """
    if isinstance(target, HasMagnetisation):
        return target.magnetisation(theta)
    if isinstance(target.space, Categorical):
        levels = target.space.levels
        return (levels * theta.mean(-2).amax(-1) - 1.0) / (levels - 1)
    return 2.0 * theta.mean(-1) - 1.0


class OrderParameterSeries(ChainSeries):
    """The order parameter along the chains.

    Raises:
        UnsupportedMetric: if the target is neither binary nor categorical and has none of its own.
    """

    def __init__(self, context: Context) -> None:
        target = context.target
        if not isinstance(target, HasMagnetisation) and not isinstance(target.space, Binary | Categorical):
            raise UnsupportedMetric(
                "magnetisation, and all that is measured of it, needs bits or one-hot coordinates; "
                f"{target.space} has neither"
            )
        super().__init__(context, target.like().dtype)

    def value(self, step: int, theta: Tensor) -> Tensor:
        return order_parameter(self.context.target, theta)


class OverlapSeries(ThinnedSeries):
    """Overlaps q = (1/d) sum_i s_i s'_i of the chains of the first half with those of the second.

    Rows ``(rows, seeds, chains // 2)``; s = 2 theta - 1. The chains of a pair are independent.

    Raises:
        UnsupportedMetric: if the target is not binary, or there are fewer than two chains.
    """

    def __init__(self, context: Context) -> None:
        if not isinstance(context.target.space, Binary) or context.chains < 2:
            raise UnsupportedMetric(
                f"overlap needs two chains or more of a binary target; {context.chains} of "
                f"{context.target.space} were given"
            )
        self.pairs = context.chains // 2
        shape = (context.seeds, self.pairs)
        capacity = ChainSeries.capacity_of(context, self.pairs)
        super().__init__(context, shape, context.target.like().dtype, capacity)

    def value(self, step: int, theta: Tensor) -> Tensor:
        differing = (theta[:, : self.pairs] - theta[:, self.pairs : 2 * self.pairs]).abs()
        return 1.0 - 2.0 * differing.mean(-1)
