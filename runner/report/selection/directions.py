"""Which metrics a selection of runs has, and which way each is better."""

from __future__ import annotations

from collections.abc import Sequence

from runner.problem.metric_directions import metric_direction
from runner.report.selection.stored_runs import StoredRun
from runner.report.table_shape import Direction, MetricShape


def metric_shapes(runs: Sequence[StoredRun]) -> list[MetricShape]:
    """The metrics that any of `runs` measured, first those with a direction."""
    measured = list(dict.fromkeys(name for run in runs if run.summary for name in run.summary["metrics"]))
    paths = {
        name: node["_target_"]
        for run in runs
        for name, node in (run.config.get("metric") or {}).items()
        if name in measured and isinstance(node, dict)
    }
    ordered = [*paths, *(name for name in measured if name not in paths)]
    shapes = [MetricShape(name, name, Direction(metric_direction(name, paths.get(name)))) for name in ordered]
    return sorted(shapes, key=lambda shape: shape.direction is Direction.none)
