"""How often a run visited each state: a file beside its metrics, for heat maps."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from runner.store.draw_files import DRAWS, draws_file

if TYPE_CHECKING:
    from metrics.suite import MetricSuite

VISITS = "visits.npz"

LARGEST_SPACE = 2**16
"""Visits to the states of larger spaces are not written; the 101 x 101 grid takes a few kilobytes a run."""


def suite_files(suite: MetricSuite, place: int) -> dict[str, bytes]:
    """Name and content of the files that the run at `place` of its batch has beside its metrics."""
    files = {VISITS: visits_file(suite, place), DRAWS: draws_file(suite, place)}
    return {name: content for name, content in files.items() if content is not None}


def visits_file(suite: MetricSuite, place: int) -> bytes | None:
    """The content of the file of visits of the run at `place` of its batch: the counts, ``(size,)``, int64.

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


def load_visits(folder: Path) -> np.ndarray | None:
    """The counts, ``(size,)``, that lie in a run's folder; None where there are none that can be read."""
    try:
        with np.load(folder / VISITS) as content:
            counts: np.ndarray = content["visits"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    return counts
