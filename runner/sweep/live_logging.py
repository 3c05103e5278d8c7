"""What the logger hears of a job while it goes on, and of one that is done."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from runner.config.compose import searched
from runner.execution.live import Point
from runner.store.logged_run import log_runs
from runner.store.logger_protocol import Logger
from runner.sweep.configured_logger import logger_of
from runner.sweep.jobs import Job, folders_of
from runner.sweep.outcome import Outcome


@dataclass(frozen=True)
class BatchLogging:
    """Gives what is recorded of a batch to the logger; a `runner.execution.live.Listener`.

    Attributes:
        run_ids: in the order of the batch; None for a run that this process has no part in.
    """

    logger: Logger
    run_ids: Sequence[str | None]

    def state(self, title: str) -> None:
        for run_id in filter(None, self.run_ids):
            self.logger.state(run_id, title)

    def recorded(self, point: Point) -> None:
        costs = {"seconds": point.seconds, "evaluations": float(point.evaluations)}
        for place, (run_id, values) in enumerate(zip(self.run_ids, point.values, strict=False)):
            if run_id is not None:
                pictures = None if point.pictures is None else partial(point.pictures, place)
                self.logger.log(run_id, point.step, {**costs, **dict(sorted(values.items()))}, pictures)


def log_done(jobs: Sequence[Job], outcome: Outcome, hydra: Sequence[str]) -> None:
    """Gives the runs that were done before the command to the logger; it may have them already.

    Args:
        hydra: overrides of Hydra itself, which say where else experiments are.
    """
    logger = logger_of(jobs[0].config)
    if logger.logger is None:
        return
    skipped = set(outcome.skipped)
    folders = {folder.run_id: folder for each in jobs for folder in folders_of(each)}
    done = [folder for folder in folders.values() if folder.run_id in skipped]
    log_runs(logger, done, searched=searched(hydra))
    outcome.places = list(dict.fromkeys([*outcome.places, *logger.places()]))


@dataclass(frozen=True)
class PreparationLogging:
    """Gives the training and the tuning that runs wait for to the logger, which hears of the runs only then.

    Attributes:
        open: makes the runs known to the logger; their ids.
    """

    logger: Logger
    open: Callable[[], Sequence[str]]

    def state(self, title: str) -> None:
        for run_id in self.open():
            self.logger.state(run_id, title)

    def recorded(self, point: Point) -> None:
        values = {name: value for name, value in point.values[0].items() if math.isfinite(value)}
        # The model is one for all runs.
        pictures = None if point.pictures is None else functools.cache(partial(point.pictures, 0))
        for run_id in self.open():
            self.logger.training(run_id, point.step, {"seconds": point.seconds, **values}, pictures)
