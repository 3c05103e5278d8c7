"""The log density along some chains of a run, thinned: for rank plots and autocorrelations."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from runner.store.arrays.npz_content import compressed, stored_arrays

if TYPE_CHECKING:
    from metrics.suite import MetricSuite

SERIES = "series.npz"
CHAINS, POINTS = 8, 256
"""Chains and points that are written at most: a run's file has some kilobytes."""


class StoredSeries(NamedTuple):
    """U along the chains of a run.

    Attributes:
        steps: of the points, evenly spaced, ``(points,)``, int64.
        log_prob: U(theta) in nats, ``(points, chains)``, float32.
    """

    steps: np.ndarray
    log_prob: np.ndarray


def series_file(suite: MetricSuite, place: int) -> bytes | None:
    """The content of the file of series of the run at `place` of its batch.

    The same series give the same bytes. None where no metric of the suite stores U along the chains.
    """
    from metrics.statistics.thinned_series import LogProbSeries

    for statistic in suite.context.statistics.values():
        if isinstance(statistic, LogProbSeries) and statistic.steps:
            stride = math.ceil(len(statistic.steps) / POINTS)
            rows = statistic.rows[::stride, place, :CHAINS]
            steps = np.asarray(statistic.steps[::stride], dtype=np.int64)
            return compressed(steps=steps, log_prob=rows.float().cpu().numpy())
    return None


def load_series(folder: Path) -> StoredSeries | None:
    """The series that lie in a run's folder; None where there are none that can be read."""
    content = stored_arrays(folder / SERIES, "steps", "log_prob")
    if content is None or content["log_prob"].shape[:1] != content["steps"].shape:
        return None
    return StoredSeries(content["steps"], content["log_prob"])
