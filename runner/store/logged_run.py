"""Gives runs that are done to a logger, from their folders."""

from __future__ import annotations

import csv

import yaml

from runner.execution.errors import one_sentence, warn
from runner.files.plain_yaml import plain_yaml
from runner.store.array_files import load_all_images
from runner.store.logger_protocol import Logger
from runner.store.run_store import RunFolder


def log_run(logger: Logger, folder: RunFolder) -> bool:
    """Gives one run to the logger; False, and nothing given, where it is not done."""
    summary = folder.summary()
    if summary is None:
        return False
    try:
        config = plain_yaml((folder.path / "config.yaml").read_bytes())
        points = _points(folder)
    except (OSError, ValueError, KeyError, yaml.YAMLError) as error:
        warn(f"the run {folder.path} is not logged, since its files cannot be read: {one_sentence(error)}.")
        return False
    about = {"finished": "", **(folder.manifest() or {}), "settings": summary.get("settings")}
    logger.start(folder.run_id, config, about)
    for step, values in points:
        logger.log(folder.run_id, step, values)
    if pictures := load_all_images(folder.path):
        logger.images(folder.run_id, pictures)
    logger.finish(folder.run_id, summary)
    return True


def _points(folder: RunFolder) -> list[tuple[int, dict[str, float]]]:
    """The recorded points of the run: the step, and costs and metrics there."""
    points: dict[int, dict[str, float]] = {}
    with open(folder.path / "metrics.csv", newline="") as file:
        for row in csv.DictReader(file):
            values = points.setdefault(int(row["step"]), {"seconds": float(row["seconds"])})
            values[row["metric"]] = float(row["value"])
    return sorted(points.items())
