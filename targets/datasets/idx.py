"""The idx format of MNIST and its relatives: a magic number, the sizes, then the bytes of all images."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from targets.datasets.dataset import DataError
from targets.datasets.places import content

MAGIC = 0x00000803
"""Unsigned bytes (8) along three axes (3)."""
HEADER = struct.Struct(">4I")


def read_images(path: Path) -> NDArray[np.uint8]:
    """The images of an idx file, plain or gzipped, uint8 ``(images, height, width)``.

    Raises:
        DataError: if the file is damaged, is not idx with three axes of bytes, or is not as long as it says.
    """
    data = content(path)
    if len(data) < HEADER.size:
        raise DataError(f"'{path}' is truncated: {len(data)} bytes are not even the header of an idx file")
    magic, *shape = HEADER.unpack_from(data)
    if magic != MAGIC:
        raise DataError(
            f"'{path}' is not an idx file of images: its magic number is 0x{magic:08x} instead of "
            f"0x{MAGIC:08x}"
        )
    expected = HEADER.size + math.prod(shape)
    if len(data) != expected:
        fault = "truncated" if len(data) < expected else "damaged"
        sizes = " x ".join(map(str, shape))
        raise DataError(
            f"'{path}' is {fault}: {sizes} pixels and a header need {expected:,} bytes, it has {len(data):,}"
        )
    return np.frombuffer(data, dtype=np.uint8, offset=HEADER.size).reshape(shape)
