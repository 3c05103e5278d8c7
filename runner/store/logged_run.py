"""Gives runs that are done to a logger, from their folders."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import yaml

from runner.execution.errors import one_sentence, warn
from runner.files.plain_yaml import plain_yaml
from runner.store.arrays.pictures import stored_pictures
from runner.store.logger_protocol import Logger
from runner.store.run_folder import LEFT_OUT, RunFolder


@dataclass(frozen=True)
class Given:
    """How many runs were given to a logger, how many it had before, how many are not done.

    Runs that are damaged or cannot be read are none of these; `runner.store.left_out` has a line on them.
    """

    runs: int
    known: int
    unfinished: int


Outcome = Literal["given", "known", "unfinished", "left out"]
"""What became of a run that was to be given to a logger."""

AT_ONCE = 32
"""Runs that are given at the same time: each mostly waits for the server."""


def log_runs(
    logger: Logger,
    folders: Sequence[RunFolder],
    again: bool = False,
    configs: Mapping[str, Mapping[str, Any]] | None = None,
    searched: Sequence[str] = (),
) -> Given:
    """Gives runs that are done to the logger, those that it has had before only `again`.

    Args:
        configs: configurations that have been read already, by run id.
        searched: the overrides of Hydra that say where else configurations are.
    """
    known = configs or {}

    def give(folder: RunFolder) -> Outcome:
        return log_run(logger, folder, again, known.get(folder.run_id), searched)

    # The first one alone: a server that refuses it refuses all.
    first = [give(folder) for folder in folders[:1]]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = Counter([*first, *pool.map(give, folders[1:])])
    return Given(outcomes["given"], outcomes["known"], outcomes["unfinished"])


def log_run(
    logger: Logger,
    folder: RunFolder,
    again: bool = False,
    config: Mapping[str, Any] | None = None,
    searched: Sequence[str] = (),
) -> Outcome:
    """Gives one run to the logger, unless the logger has it, or it is not done or cannot be read."""
    status, summary = folder.standing()
    if summary is None:
        return "left out" if status in LEFT_OUT else "unfinished"
    if not again and logger.has(folder.run_id, summary):
        return "known"
    try:
        config = config or plain_yaml((folder.path / "config.yaml").read_bytes())
        points = _points(folder)
    except (OSError, ValueError, KeyError, yaml.YAMLError) as error:
        warn(f"the run {folder.path} is not logged, since its files cannot be read: {one_sentence(error)}.")
        return "left out"
    told = {"settings": summary.get("settings"), "searched": searched}
    about = {"finished": "", **(folder.manifest() or {}), **told}
    logger.start(folder.run_id, config, about)
    for step, values in points:
        pictures = partial(stored_pictures, folder.path) if step == points[-1][0] else None
        logger.log(folder.run_id, step, values, pictures)
    logger.finish(folder.run_id, summary)
    return "given"


def _points(folder: RunFolder) -> list[tuple[int, dict[str, float]]]:
    """The recorded points of the run: the step, and costs and metrics there."""
    points: dict[int, dict[str, float]] = {}
    with open(folder.path / "metrics.csv", newline="") as file:
        for row in csv.DictReader(file):
            values = points.setdefault(int(row["step"]), {"seconds": float(row["seconds"])})
            values[row["metric"]] = float(row["value"])
    return sorted(points.items())
