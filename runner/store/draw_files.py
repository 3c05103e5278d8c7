"""Where the chains of a run ended: kept beside its metrics, for pictures of them."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

if TYPE_CHECKING:
    from metrics.suite import MetricSuite

FILE = "draws.npz"
IMAGES = "images.npz"
"""Where a run that learned a model keeps images of its data set, to be shown beside its draws."""

MOST = 64
"""Draws that are kept of a run: a sheet of 8 by 8."""


def draws_of(suite: MetricSuite, place: int, shape: tuple[int, int] | None = None) -> bytes | None:
    """The file that keeps the last draws of the run at `place` of its batch, one bit a pixel.

    The same draws give the same bytes. None where no metric of the suite holds last draws, or they are no
    binary images.

    Args:
        shape: height and width of an image; by default images are square.
    """
    from metrics.statistics.last_draws import LastDraws
    from targets.spaces import Binary

    for statistic in suite.context.statistics.values():
        if isinstance(statistic, LastDraws) and statistic.theta is not None:
            draws = statistic.theta[place, :MOST].cpu().numpy()
            size = draws[0].size
            height, width = shape or (math.isqrt(size), math.isqrt(size))
            if not isinstance(suite.context.target.space, Binary) or height * width != size:
                return None
            return packed(draws.reshape(-1, height, width) > 0.5)
    return None


def packed(pixels: np.ndarray) -> bytes:
    """The file that keeps images ``(n, height, width)``, one bit a pixel; the same images, the same bytes."""
    n, height, width = pixels.shape
    buffer = io.BytesIO()
    bits = np.packbits(pixels.reshape(n, -1), axis=1)
    np.savez_compressed(buffer, draws=bits, shape=np.asarray([height, width], dtype=np.int64))
    return buffer.getvalue()


def kept_draws(folder: Path, file: str = FILE) -> np.ndarray | None:
    """The draws, or the images of `file`, that lie in a run's folder.

    Returns:
        ``(draws, height, width)`` of zeros and ones, uint8; None where there are none that can be read.
    """
    try:
        with np.load(folder / file) as kept:
            height, width = (int(side) for side in kept["shape"])
            pixels: np.ndarray = np.unpackbits(kept["draws"], axis=1, count=height * width)
            return pixels.reshape(-1, height, width)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None


def sheets(folder: Path) -> dict[str, np.ndarray]:
    """The images in a run's folder by the name of their file: draws, and data beside them."""
    found = {Path(name).stem: kept_draws(folder, name) for name in (FILE, IMAGES)}
    return {name: images for name, images in found.items() if images is not None and len(images)}
