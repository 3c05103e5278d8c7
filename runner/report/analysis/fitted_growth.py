"""The fit of a growth of one row: its exponent, and how straight its logarithm is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metrics.inference.growth_exponent import (
    GrowthExponent,
    exponential_rate,
    growth_exponent,
    straightness,
)
from runner.report.block_references import form_of, power_of
from runner.report.table_shape import GrowthShape


@dataclass(frozen=True)
class FittedGrowth:
    """A power law or an exponential, fitted to the points of a row.

    Attributes:
        form: ``D^p`` or ``exp(p D^2)``.
        fit: of the points that have a positive value.
        places: number of all points.
        straight: R² of straight lines of the logarithm, by what it is drawn against.
    """

    row: str
    metric: str
    form: str
    fit: GrowthExponent
    places: int
    straight: Mapping[str, float]

    def record(self) -> dict[str, object]:
        """A line of growths.csv; R² are against log x, x and its power."""
        logarithm, plain, *power = self.straight.values()
        return {
            "row": self.row,
            "cell": self.form,
            "metric": self.metric,
            "mean": self.fit.exponent,
            "lo": self.fit.lo,
            "hi": self.fit.hi,
            "n": self.fit.points,
            "points": self.places,
            "r2_log": logarithm,
            "r2_linear": plain,
            "r2_power": power[0] if power else None,
        }


def fitted(growth: GrowthShape, row: str, found: Sequence[tuple[float, float]]) -> FittedGrowth | None:
    """The fit to `found`, pairs of x and the metric; None without positive values at two x."""
    positive = [(x, y) for x, y in found if x > 0 and y > 0]
    if len({x for x, _ in positive}) < 2:
        return None
    places, values = [x for x, _ in positive], [y for _, y in positive]
    raised = [x**growth.power for x in places]
    fit = exponential_rate(raised, values) if growth.exponential else growth_exponent(places, values)
    axis = power_of(growth.symbol, growth.power)
    logarithms = [math.log(y) for y in values]
    against = {f"log {growth.symbol}": [math.log(x) for x in places], growth.symbol: places, axis: raised}
    return FittedGrowth(
        row=row,
        metric=growth.metric,
        form=form_of(growth.symbol, growth.power, growth.exponential),
        fit=fit,
        places=len(found),
        straight={name: straightness(each, logarithms) for name, each in against.items()},
    )
