"""Metrics along the runs of several seeds, averaged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from metrics.inference.few_seeds import Interval, interval
from runner.site.content.curves import Curve


@dataclass(frozen=True)
class Point:
    """Runs of several seeds after the same step: mean costs, and mean and interval of the metric."""

    step: int
    evaluations: float
    seconds: float
    span: Interval


def averaged(curves: Iterable[Curve]) -> list[Point]:
    """The curves of several seeds, averaged at each recorded step at which all have a finite value."""
    at: dict[int, list[tuple[float, float, float]]] = {}
    without: set[int] = set()
    for curve in curves:
        rows = zip(curve.step, curve.evaluations, curve.seconds, curve.value, strict=True)
        for step, evaluations, seconds, value in rows:
            if value is None:
                without.add(step)  # a mean over the other seeds would be too good
            else:
                at.setdefault(step, []).append((evaluations, seconds, value))
    points = []
    for step, found in sorted(each for each in at.items() if each[0] not in without):
        costs = [sum(each[place] for each in found) / len(found) for place in (0, 1)]
        span = interval([value for *_, value in found])
        assert span is not None
        points.append(Point(step, costs[0], costs[1], span))
    return points
