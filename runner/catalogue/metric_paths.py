"""The metrics of conf/metric and of a configuration, with the dotted paths of their classes."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import conf
from runner.config.kinds import PROJECT
from runner.files.plain_yaml import plain_yaml


@functools.cache
def metric_paths() -> dict[str, str]:
    """Every metric of conf/metric by its name, with the path of its class."""
    files = sorted(Path(conf.__path__[0]).glob("metric/*.yaml"))
    return {name: path for file in files for name, path in _paths(plain_yaml(file.read_bytes()) or {})}


def own_metrics(metric: Any) -> dict[str, str]:
    """The metrics of a configuration's group `metric` that conf/metric lacks or has with another class."""
    if not isinstance(metric, Mapping):
        return {}
    return {name: path for name, path in _paths(metric) if _named(metric_paths().get(name)) != _named(path)}


def _named(path: str | None) -> str | None:
    """The name of a class of ours, which may have moved since a run; the path of any other."""
    return path.rsplit(".", 1)[-1] if path is not None and path.startswith(PROJECT) else path


def _paths(metric: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    for name, node in metric.items():
        if isinstance(node, Mapping) and "_target_" in node:
            yield str(name), str(node["_target_"])
