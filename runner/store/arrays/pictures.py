"""Pictures of a run, while it goes on or from its folder: sheets of binary images, heat maps of visits."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from runner.store.arrays.array_files import (
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
    from PIL.Image import Image
    from torch import Tensor

    from metrics.suite import MetricSuite

SMALLEST = 256
"""A heat map's side in pixels at least: a cell is as many as it takes."""

CIVIDIS = ((0, 34, 78), (65, 77, 107), (125, 124, 120), (188, 175, 111), (254, 232, 56))

Pictures = Mapping[str, np.ndarray]
"""Images ``(n, height, width)`` of zeros and ones, or visits ``(size,)``, by name."""

Making = Callable[[], Pictures]
"""Makes pictures for who wants them: they cost time."""


def suite_pictures(suite: MetricSuite, place: int, shape: tuple[int, int] | None = None) -> Pictures:
    """What can be shown of the run at `place` of its batch as it stands; `shape` as of `draws_of`."""
    return _there({DRAWS: draws_of(suite, place, shape), VISITS: visits_of(suite, place)})


def chain_pictures(states: Tensor, shape: tuple[int, int]) -> Pictures:
    """What can be shown of chains whose states ``(chains, pixels)`` are binary images of `shape`."""
    return _there({DRAWS: binary_images(states, shape)})


def stored_pictures(folder: Path) -> Pictures:
    """What can be shown of a run that is done: draws, images of its data, visits."""
    found = {name: load_images(folder, name) for name in (DRAWS, IMAGES)}
    return _there({**found, VISITS: load_visits(folder)})


def image_of(picture: np.ndarray) -> Image:
    """A sheet, black on white, or a heat map in the colours of the figures; in few colours, so soon written.

    The states of a heat map are in rows: the cells of a grid, or the first half of the coordinates down.
    """
    from PIL import Image

    if picture.ndim == 3:
        return Image.fromarray(255 * (1 - sheet(picture.astype(np.uint8)))).convert("1")
    side = math.isqrt(picture.size)
    share = np.sqrt(picture / max(1, picture.max())).reshape(side, side)
    cells = Image.fromarray((255 * share.T[::-1]).astype(np.uint8))
    page = cells.resize((side * -(-SMALLEST // side),) * 2, Image.Resampling.NEAREST)
    page.putpalette(_colours())
    return page


@functools.cache
def _colours() -> list[int]:
    """Red, green and blue of 256 colours."""
    return cividis(np.arange(256), 255).astype(int).flatten().tolist()


def cividis(places: np.ndarray, last: float = 1.0) -> np.ndarray:
    """Red, green and blue ``(n, 3)``, to 255, at places from 0 to `last` of matplotlib's scale.

    To import matplotlib takes longer than to make the pictures.
    """
    told = np.linspace(0, last, len(CIVIDIS))
    return np.stack([np.interp(places, told, channel) for channel in zip(*CIVIDIS, strict=True)], axis=-1)


def _there(found: Mapping[str, np.ndarray | None]) -> Pictures:
    """Those that there are and that can be drawn, by the names of their files."""
    return {
        Path(name).stem: picture
        for name, picture in found.items()
        if picture is not None
        and len(picture)
        and (picture.ndim == 3 or math.isqrt(picture.size) ** 2 == picture.size)
    }
