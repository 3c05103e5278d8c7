"""Pictures of a run, while it goes on or from its folder: sheets of binary images, heat maps of visits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from runner.store.array_files import (
    DRAWS,
    IMAGES,
    VISITS,
    binary_images,
    draws_of,
    load_images,
    load_visits,
    sheet,
    visits_of,
)

if TYPE_CHECKING:
    from torch import Tensor

    from metrics.suite import MetricSuite

SMALLEST = 256
"""A heat map's side in pixels at least: a cell is as many as it takes."""

CIVIDIS = ((0, 34, 78), (65, 77, 107), (125, 124, 120), (188, 175, 111), (254, 232, 56))

Pictures = Mapping[str, np.ndarray]
"""Images ``(n, height, width)`` of zeros and ones, or visits ``(size,)``, by name."""

Making = Callable[[], Pictures]
"""Makes pictures for who wants them: they cost time."""


def suite_pictures(suite: MetricSuite, place: int) -> Pictures:
    """What can be shown of the run at `place` of its batch as it stands."""
    return _there({DRAWS: draws_of(suite, place), VISITS: visits_of(suite, place)})


def chain_pictures(states: Tensor, shape: tuple[int, int]) -> Pictures:
    """What can be shown of chains whose states ``(chains, pixels)`` are binary images of `shape`."""
    return _there({DRAWS: binary_images(states, shape)})


def stored_pictures(folder: Path) -> Pictures:
    """What can be shown of a run that is done: draws, images of its data, visits."""
    found = {name: load_images(folder, name) for name in (DRAWS, IMAGES)}
    return _there({**found, VISITS: load_visits(folder)})


def pixels(picture: np.ndarray) -> np.ndarray:
    """A sheet, black on white, or a heat map in the colours of the figures: ``(height, width[, 3])``, uint8.

    The states of a heat map are in rows: the cells of a grid, or the first half of the coordinates down.
    """
    if picture.ndim == 3:
        return np.asarray(255 * (1 - sheet(picture.astype(np.uint8))), dtype=np.uint8)
    side = math.isqrt(picture.size)
    share = np.sqrt(picture / max(1, picture.max())).reshape(side, side)
    # matplotlib's cividis between five of its colours: to import it takes longer than all the rest.
    places = np.linspace(0.0, 1.0, len(CIVIDIS))
    channels = [np.interp(share.T[::-1], places, [colour[each] for colour in CIVIDIS]) for each in range(3)]
    colours = np.stack(channels, axis=-1).astype(np.uint8)
    return np.kron(colours, np.ones((-(-SMALLEST // side),) * 2 + (1,), dtype=np.uint8))


def _there(found: Mapping[str, np.ndarray | None]) -> Pictures:
    """Those that there are and that can be drawn, by the names of their files."""
    return {
        Path(name).stem: picture
        for name, picture in found.items()
        if picture is not None
        and len(picture)
        and (picture.ndim == 3 or math.isqrt(picture.size) ** 2 == picture.size)
    }
