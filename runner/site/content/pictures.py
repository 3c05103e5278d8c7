"""Small pictures of the pages: thumbnails of figures, heat maps of visits, sheets of images."""

from __future__ import annotations

import base64
import io
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from runner.store.arrays.array_files import DRAWS, IMAGES, load_best, load_images, load_visits, sheet

WIDTH = 480
"""Pixels across of a thumbnail, which is shown at two thirds of that."""

SHOWN = 320
SIDE = 320
"""Pixels at which the states of a run are shown."""

SMALLEST = 16
"""States along a side from which on counts are a picture."""


@dataclass(frozen=True)
class Small:
    """The PNG file of a thumbnail, and the height at which it is shown."""

    content: bytes
    height: int


@dataclass(frozen=True)
class Picture:
    """A picture inside a page.

    Attributes:
        kind: ``cells`` where each pixel is a state, which stays sharp when it is enlarged; else ``lines``.
        source: the picture itself, as an address.
    """

    kind: str
    title: str
    source: str
    width: int
    height: int


def thumbnail(path: Path) -> Small | None:
    """A figure at `WIDTH`; None where it cannot be read."""
    try:
        with Image.open(path) as figure:
            height = max(1, round(figure.height * WIDTH / figure.width))
            # Median cut takes the many greys, and leaves thin coloured lines without a colour.
            octree = Image.Quantize.FASTOCTREE
            small = figure.convert("RGB").resize((WIDTH, height)).quantize(256, method=octree)
    except (OSError, ValueError):
        return None
    return Small(_png(small), round(height * SHOWN / WIDTH))


def states_of(folder: Path) -> list[Picture]:
    """The visits and the last draws that a run keeps, as far as they are a square grid or images."""
    found = [_visits(load_visits(folder))]
    for name, title in ((DRAWS, "Last draws of the chains"), (IMAGES, "Images of the data")):
        images = load_images(folder, name)
        found.append(_sheet(images, title) if images is not None and len(images) else None)
    found.append(_best(load_best(folder)))
    return [each for each in found if each is not None]


def _visits(counts: np.ndarray | None) -> Picture | None:
    """How often each state was visited, dark where often; None unless the states are a square grid."""
    side = 0 if counts is None else math.isqrt(counts.size)
    # Of 2^d states of d bits none is beside another.
    bits = side & (side - 1) == 0
    if counts is None or side * side != counts.size or side < SMALLEST or bits or counts.max() <= 0:
        return None
    shades = 255 - np.round(255 * np.sqrt(counts / counts.max())).astype(np.uint8)
    picture = Image.fromarray(shades.reshape(side, side).T[::-1])
    title = "Visits to each state of the grid, dark where often (shades by the square root of the counts)"
    return picture_of(picture, "cells", title, (SIDE, SIDE))


def _best(state: np.ndarray | None) -> Picture | None:
    """The most likely draw; None unless it is a square of zeros and ones."""
    side = 0 if state is None else math.isqrt(state.size)
    if state is None or side < SMALLEST or side * side != state.size or not np.isin(state, (0, 1)).all():
        return None
    picture = Image.fromarray((255 - 255 * state.reshape(side, side)).astype(np.uint8))
    return picture_of(picture, "cells", "Most likely draw of the run", (SIDE // 2, SIDE // 2))


def _sheet(images: np.ndarray, title: str) -> Picture:
    page = sheet(images)
    height, width = page.shape
    scale = max(1, round(SIDE / width))
    picture = Image.fromarray((255 - 255 * page).astype(np.uint8))
    return picture_of(picture, "cells", title, (scale * width, scale * height))


def picture_of(picture: Image.Image, kind: str, title: str, shown: tuple[int, int] | None = None) -> Picture:
    """`picture` inside a page, `shown` at so many pixels, or at its own."""
    return Picture(kind, title, _address(_png(picture)), *(shown or picture.size))


def _png(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def _address(content: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"
