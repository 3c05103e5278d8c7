"""Arrays in a run's folder: visits to each state, the best one, where chains ended, images of its data."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from runner.store.arrays.draws_netcdf import POSTERIOR, posterior_file
from runner.store.arrays.npz_content import compressed, stored_arrays
from runner.store.arrays.series_file import SERIES, series_file

if TYPE_CHECKING:
    from torch import Tensor

    from metrics.suite import MetricSuite

VISITS, DRAWS, BEST = "visits.npz", "draws.npz", "best.npz"
IMAGES = "images.npz"
"""File with images of the data set of a run that learned a model, to be shown beside its draws."""

LARGEST_SPACE = 2**16
"""Visits to the states of larger spaces are not written; the 101 x 101 grid takes a few kilobytes a run."""

MOST = 64
"""Draws of a run that are written at most: 8 lines of 8."""

ACROSS = 8
FRAME = 2
"""Width of the white frame around an image of a sheet, in pixels."""


def suite_files(suite: MetricSuite, place: int, shape: tuple[int, int] | None = None) -> dict[str, bytes]:
    """Name and content of the files that the run at `place` of its batch has beside its metrics.

    Args:
        shape: as of `draws_of`.
    """
    files = {
        VISITS: visits_file(suite, place),
        DRAWS: draws_file(suite, place, shape),
        SERIES: series_file(suite, place),
        POSTERIOR: posterior_file(suite, place),
        BEST: best_file(suite, place),
    }
    return {name: content for name, content in files.items() if content is not None}


def visits_of(suite: MetricSuite, place: int) -> np.ndarray | None:
    """Visits of the run at `place` of its batch to each state, ``(size,)``, int64.

    None where no metric of the suite counts visits, or there are too many states.
    """
    from metrics.statistics.visit_histogram import VisitHistogram

    for statistic in suite.context.statistics.values():
        if isinstance(statistic, VisitHistogram) and statistic.space.size <= LARGEST_SPACE:
            counts: np.ndarray = statistic.counts[place].cpu().numpy()
            return counts
    return None


def visits_file(suite: MetricSuite, place: int) -> bytes | None:
    """The content of the file of `visits_of`; the same counts give the same bytes."""
    visits = visits_of(suite, place)
    return None if visits is None else compressed(visits=visits)


def best_file(suite: MetricSuite, place: int) -> bytes | None:
    """The content of the file of the most likely draw; None unless the suite measures `best_log_prob`.

    For a problem on a graph it names the nodes, in the order of the state.
    """
    from metrics.optimisation.best_state import BestLogProb

    for metric in suite.metrics.values():
        if isinstance(metric, BestLogProb):
            labels = getattr(getattr(suite.context.target, "graph", None), "labels", ())
            nodes = {"nodes": np.array(labels)} if labels else {}
            return compressed(**metric.best.of_run(place), **nodes)
    return None


def load_best(folder: Path) -> np.ndarray | None:
    """The most likely draw that lies in a run's folder; None where there is none that can be read."""
    content = stored_arrays(folder / BEST, "state")
    return None if content is None else content["state"]


def draws_of(suite: MetricSuite, place: int, shape: tuple[int, int] | None = None) -> np.ndarray | None:
    """Last draws of the run at `place` of its batch as images ``(draws, height, width)`` of truth values.

    None where no metric of the suite holds last draws, or they are no binary images.

    Args:
        shape: height and width of an image; by default images are square.
    """
    from metrics.statistics.last_draws import LastDraws
    from targets.spaces import Binary

    for statistic in suite.context.statistics.values():
        if isinstance(statistic, LastDraws) and statistic.theta is not None:
            draws: np.ndarray = statistic.theta[place, :MOST].cpu().numpy()
            size = draws[0].size
            height, width = shape or (math.isqrt(size), math.isqrt(size))
            if not isinstance(suite.context.target.space, Binary) or height * width != size:
                return None
            return draws.reshape(-1, height, width) > 0.5
    return None


def draws_file(suite: MetricSuite, place: int, shape: tuple[int, int] | None = None) -> bytes | None:
    """The content of the file of `draws_of`, one bit a pixel; the same draws give the same bytes."""
    draws = draws_of(suite, place, shape)
    return None if draws is None else images_file(draws)


def binary_images(states: Tensor, shape: tuple[int, int]) -> np.ndarray:
    """At most `MOST` of the states ``(n, pixels)`` as images ``(n, height, width)`` of truth values."""
    images: np.ndarray = (states[:MOST] > 0).reshape(-1, *shape).cpu().numpy()
    return images


def images_file(pixels: np.ndarray) -> bytes:
    """The content of a file of images ``(n, height, width)``, one bit a pixel; equal images, equal bytes."""
    n, height, width = pixels.shape
    bits = np.packbits(pixels.reshape(n, -1), axis=1)
    return compressed(draws=bits, shape=np.asarray([height, width], dtype=np.int64))


def load_visits(folder: Path) -> np.ndarray | None:
    """The counts, ``(size,)``, that lie in a run's folder; None where there are none that can be read."""
    content = stored_arrays(folder / VISITS, "visits")
    return None if content is None else content["visits"]


def load_images(folder: Path, file: str = DRAWS) -> np.ndarray | None:
    """The draws, or the images of `file`, that lie in a run's folder.

    Returns:
        ``(draws, height, width)`` of zeros and ones, uint8; None where there are none that can be read.
    """
    content = stored_arrays(folder / file, "draws", "shape")
    if content is None:
        return None
    try:
        height, width = (int(side) for side in content["shape"])
        pixels: np.ndarray = np.unpackbits(content["draws"], axis=1, count=height * width)
        return pixels.reshape(-1, height, width)
    except ValueError:
        return None


def sheet(images: np.ndarray, across: int = ACROSS) -> np.ndarray:
    """Images ``(number, height, width)`` side by side, `across` to a line and as many lines.

    Zero is white; the frame and places without an image are zero.
    """
    images = images[: across * across]
    framed = np.pad(images, ((0, across * across - len(images)), (FRAME, 0), (FRAME, 0)))
    _, height, width = framed.shape
    lines = framed.reshape(across, across, height, width).transpose(0, 2, 1, 3)
    page = lines.reshape(across * height, across * width)
    return np.pad(page, ((0, FRAME), (0, FRAME)))
