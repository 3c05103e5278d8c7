"""The axis of a metric: its label with unit and better direction, and the values that it can have."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from runner.catalogue.metric_paths import metric_paths
from runner.catalogue.source import source_of
from runner.config.kinds import PROJECT
from runner.execution.errors import UserError
from runner.report.table_shape import Direction, MetricShape
from targets.checks import is_number

ARROWS = {Direction.min: "← better", Direction.max: "better →", Direction.none: ""}
"""On a vertical axis the label is turned: the arrow to the right points upwards."""

SPREAD = 50
"""Ratio of the largest to the smallest mean from which on an axis is logarithmic, where nobody chose it."""


@dataclass(frozen=True)
class Quantity:
    """Unit of a quantity, the least and the largest value that it can have, and which way it is better."""

    unit: str
    low: float = -math.inf
    high: float = math.inf
    direction: Direction = Direction.none

    def titled(self, name: str) -> str:
        """`name` with the unit, if it names none."""
        return (
            f"{name} ({self.unit})"
            if self.unit and "(" not in name and self.unit not in name.lower()
            else name
        )

    def compared(self, direction: Direction) -> Quantity:
        """This quantity in a table that compares it by `direction`, or by its own where that is none."""
        return self if direction is Direction.none else replace(self, direction=direction)

    def axis(self, name: str, line_break: str = "\n") -> str:
        """The label of an axis: `name` with the unit, and below it an arrow to better values."""
        arrow = ARROWS[self.direction]
        return f"{self.titled(name)}{line_break}{arrow}" if arrow else self.titled(name)

    def clipped(self, low: float, high: float) -> tuple[float, float]:
        """The part of an interval that its values can have."""
        return max(low, self.low), min(high, self.high)

    def errors(self, mean: float, margin: float | None) -> tuple[float, float]:
        """How far the interval ``mean ± margin`` goes down and up within its range."""
        low, high = self.clipped(mean - (margin or 0.0), mean + (margin or 0.0))
        return max(mean - low, 0.0), max(high - mean, 0.0)


SHARE = Quantity("", 0.0, 1.0)
"""A share of draws, images or eigenvalues: the height of a bar."""

OF_TASKS = {
    "seconds": Quantity("s", 0.0),
    "evaluations": Quantity("evaluations", 0.0),
    "log_likelihood": Quantity("nats", direction=Direction.max),
    "validation_log_likelihood": Quantity("nats", direction=Direction.max),
    "best_validation_log_likelihood": Quantity("nats", direction=Direction.max),
    "loss": Quantity("nats"),
    "mse": Quantity("squared pixel value", 0.0),
    "train_minus_mse": Quantity("squared outcome", high=0.0),
    "validation_rmse": Quantity("outcome", 0.0),
    "inverse_gap": Quantity("time", 0.0),
    "steps_to_threshold": Quantity("steps", 0.0),
    "steps_per_draw": Quantity("steps", 0.0),
    "auxiliary_gap": Quantity("probability", 0.0, 1.0, Direction.min),
}
"""What tasks measure by themselves, and values whose name does not begin with their metric's."""

NOW = "_now"
"""The end of the name of a metric's value at one step of a run."""

OTHER_UNITS = {"mean_norm_log2": "ln²"}
"""Values that have another unit than the metric whose name they begin with."""

UNBOUNDED = ("_u", "_deviation", "_binder")
"""Ends of names of values that may lie outside the bounds of the metric whose name they begin with: an
unbiased estimate that is negative at times, a difference in standard errors, a ratio of moments.
"""

SPREADS = ("_sd", "_se")
"""Ends of names of standard deviations and errors of a metric, which are not in its bounds but from 0 on."""


@functools.cache
def quantities() -> dict[str, Quantity]:
    """Every metric of conf/metric by its name, with what its class says, and what tasks measure."""
    return OF_TASKS | {name: _said(path) for name, path in metric_paths().items()}


@functools.cache
def _said(path: str) -> Quantity:
    """What the class at a dotted path, or that of which a function there gives one, says.

    Ours are read in their source, since importing them takes torch, and seconds. In that of others anything
    may stand. Nothing is known of a class that is not here any more.
    """
    if path.startswith(PROJECT):
        try:
            said = source_of(path).members()
        except UserError:
            return Quantity("")
    else:
        from runner.problem.metric_directions import metric_class

        cls = metric_class("", path)
        said = {name: getattr(cls, name, None) for name in ("unit", "bounds", "direction")}
    unit, bounds, better = said["unit"], said["bounds"], said["direction"]
    pair = isinstance(bounds, tuple) and len(bounds) == 2 and all(map(is_number, bounds))
    low, high = bounds if pair else (-math.inf, math.inf)
    direction = Direction(better if better in ("min", "max") else "none")
    return Quantity(unit if isinstance(unit, str) else "", low, high, direction)


def quantity_of(metric: str, own: Mapping[str, str] = {}) -> Quantity:
    """Of the metric, or bounds of the one that its name begins with (`swap_rate_min`); else neither.

    Args:
        own: see `runner.catalogue.metric_paths.own_metrics`, of the runs that measured it.
    """
    known, metric = quantities() | {name: _said(path) for name, path in own.items()}, metric.removesuffix(NOW)
    begun = [name for name in known if metric == name or metric.startswith(f"{name}_")]
    found = known[max(begun, key=len)] if begun else Quantity("")
    if metric in known:
        return found
    unit = OTHER_UNITS.get(metric, "")
    if metric.endswith(SPREADS):
        return Quantity(unit, 0.0)
    return Quantity(unit) if metric.endswith(UNBOUNDED) else Quantity(unit, found.low, found.high)


def spread_out(means: Collection[float]) -> bool:
    """Whether the axis of these means is logarithmic, where nobody chose it."""
    return bool(means) and min(means) > 0 and max(means) >= SPREAD * min(means)


def metric_label(metric: MetricShape, quantity: Quantity, text: str | None = None) -> str:
    """`text`, by default the metric's name, with its unit if it names none, and an arrow to better values.

    Where the table compares nothing by the metric, the arrow is that of its class.
    """
    return quantity.compared(metric.direction).axis(text or metric.name)
