"""Metrics along the runs of several seeds, averaged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from metrics.inference.few_seeds import Interval, interval
from runner.report.block_references import along_runs
from runner.site.content.curves import Curve


@dataclass(frozen=True)
class Point:
    """Runs of several seeds after the same step: their costs, and mean and interval of the metric.

    Attributes:
        evaluations: mean of the seeds.
        seconds: median of the seeds.
        span: None where a seed has no finite value: a mean over the others would be too good.
    """

    step: int
    evaluations: float
    seconds: float
    span: Interval | None


def averaged(curves: Iterable[Curve]) -> list[Point]:
    """The curves of several seeds, averaged at each recorded step."""
    at: dict[int, list[tuple[float, float, float | None]]] = {}
    for curve in curves:
        rows = zip(curve.step, curve.evaluations, curve.seconds, curve.value, strict=True)
        for step, evaluations, seconds, value in rows:
            at.setdefault(step, []).append((evaluations, seconds, value))
    points = []
    for step, found in sorted(at.items()):
        evaluated = along_runs("evaluations", [each[0] for each in found])
        took = along_runs("seconds", [each[1] for each in found])
        values = [value for *_, value in found if value is not None]
        points.append(Point(step, evaluated, took, interval(values) if len(values) == len(found) else None))
    return points
