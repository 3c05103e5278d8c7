"""Which way a metric is better."""

from __future__ import annotations

import functools
from pathlib import Path

import yaml

import conf
from metrics.metric import Metric
from runner.config.construct import locate
from runner.execution.errors import UserError


def metric_direction(name: str, path: str | None) -> str:
    """``min``, ``max`` or ``none``: by the class at `path`, else by the experiments' tables."""
    if path is not None:
        try:
            cls = locate(path, f"metric.{name}._target_")
        except UserError:
            cls = None
        if isinstance(cls, type) and issubclass(cls, Metric):
            return cls.direction or "none"
    return _of_tables().get(name, "none")


@functools.cache
def _of_tables() -> dict[str, str]:
    """The direction of every metric that a table of the experiments shows."""
    found: dict[str, str] = {}
    for path in sorted(Path(conf.__path__[0]).glob("experiment/*.yaml")):
        table = yaml.load(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader)).get("table") or {}
        for metric in table.get("metrics", []):
            found[metric["metric"]] = str(metric["direction"])
    return found
