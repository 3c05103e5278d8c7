"""Which way a metric is better."""

from __future__ import annotations

import functools
from pathlib import Path

import conf
from metrics.metric import Metric
from runner.config.construct import locate
from runner.config.kinds import class_of
from runner.execution.errors import UserError
from runner.files.plain_yaml import plain_yaml


def metric_direction(name: str, path: str | None) -> str:
    """``min``, ``max`` or ``none``: by the class at `path`, else by the experiments' tables."""
    cls = metric_class(name, path)
    if cls is None:
        return _of_tables().get(name, "none")
    # A class may have changed since its runs, which were refused with any other.
    return cls.direction if cls.direction in ("min", "max") else "none"


def metric_class(name: str, path: str | None) -> type[Metric] | None:
    """The class at `path`, or of what a function there returns, which the metric `name` names.

    None where that is no metric or not there.
    """
    try:
        cls = None if path is None else class_of(locate(path, f"metric.{name}._target_"))
    except UserError:
        return None
    return cls if cls is not None and issubclass(cls, Metric) else None


@functools.cache
def _of_tables() -> dict[str, str]:
    """The direction of every metric that a table of the experiments shows."""
    found: dict[str, str] = {}
    for path in sorted(Path(conf.__path__[0]).glob("experiment/*.yaml")):
        table = plain_yaml(path.read_bytes()).get("table") or {}
        for metric in table.get("metrics", []):
            found[metric["metric"]] = str(metric["direction"])
    return found
