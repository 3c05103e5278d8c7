"""Which metrics a selection of runs has, and which way each is better."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import yaml

import conf
from metrics.metric import Metric
from runner.config.construct import locate
from runner.execution.errors import UserError
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
    shapes = [MetricShape(name, name, direction_of(name, paths.get(name))) for name in ordered]
    return sorted(shapes, key=lambda shape: shape.direction is Direction.none)


def direction_of(name: str, path: str | None) -> Direction:
    """The direction that the metric's class at `path` declares, else that in the experiments' tables."""
    if path is not None:
        try:
            cls = locate(path, f"metric.{name}._target_")
        except UserError:
            cls = None
        if isinstance(cls, type) and issubclass(cls, Metric):
            return Direction(cls.direction or "none")
    return _of_tables().get(name, Direction.none)


@functools.cache
def _of_tables() -> dict[str, Direction]:
    """The direction of every metric that a table of the experiments shows."""
    found: dict[str, Direction] = {}
    for path in sorted(Path(conf.__path__[0]).glob("experiment/*.yaml")):
        table = yaml.load(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader)).get("table") or {}
        for metric in table.get("metrics", []):
            found[metric["metric"]] = Direction(metric["direction"])
    return found
