"""How often a run visited each state: kept beside its metrics, for heat maps."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from runner.store import draw_files

if TYPE_CHECKING:
    from metrics.suite import MetricSuite

FILE = "visits.npz"

LARGEST_SPACE = 2**16
"""Visits to the states of larger spaces are not kept; the 101 x 101 grid takes a few kilobytes a run."""


def files_of(suite: MetricSuite, place: int) -> dict[str, bytes]:
    """Name and content of the files that the run at `place` of its batch keeps beside its metrics."""
    kept = {FILE: visits_of(suite, place), draw_files.FILE: draw_files.draws_of(suite, place)}
    return {name: content for name, content in kept.items() if content is not None}


def visits_of(suite: MetricSuite, place: int) -> bytes | None:
    """The file that keeps the visits of the run at `place` of its batch: the counts, ``(size,)``, int64.

    The same counts give the same bytes. None where no metric of the suite counts visits, or there are too
    many states.
    """
    from metrics.statistics.visit_histogram import VisitHistogram

    for statistic in suite.context.statistics.values():
        if isinstance(statistic, VisitHistogram) and statistic.space.size <= LARGEST_SPACE:
            buffer = io.BytesIO()
            np.savez_compressed(buffer, visits=statistic.counts[place].cpu().numpy())
            return buffer.getvalue()
    return None


def kept_visits(folder: Path) -> np.ndarray | None:
    """The counts, ``(size,)``, that lie in a run's folder; None where there are none that can be read."""
    try:
        with np.load(folder / FILE) as kept:
            counts: np.ndarray = kept["visits"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    return counts
