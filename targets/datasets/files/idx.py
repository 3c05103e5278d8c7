"""The idx format of MNIST and its relatives: a magic number, the sizes, then the bytes of all items."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from targets.datasets.files.data_error import DataError
from targets.datasets.files.places import LARGEST, beginning, file_content

BYTES = 0x00000800
"""Magic number of unsigned bytes; its last digit is the number of axes."""

SPARE = 2**20
"""Bytes behind the last item that are counted for the message; a file with more of them is not read on."""


def read_images(path: Path) -> NDArray[np.uint8]:
    """The images of an idx file, plain or gzipped, uint8 ``(images, height, width)``.

    Raises:
        DataError: if the file is damaged, is not idx with three axes of bytes, or has the wrong length.
    """
    return _read(path, 3, "images", "pixels")


def read_labels(path: Path) -> NDArray[np.uint8]:
    """The labels of an idx file, plain or gzipped, uint8 ``(images,)``.

    Raises:
        DataError: if the file is damaged, is not idx with one axis of bytes, or has the wrong length.
    """
    return _read(path, 1, "labels", "labels")


def _read(path: Path, axes: int, what: str, items: str) -> NDArray[np.uint8]:
    """The bytes of a file, in the shape of its header; `what` and `items` are for messages."""
    header = struct.Struct(f">{axes + 1}I")
    first = beginning(path, header.size)
    if len(first) < header.size:
        raise DataError(f"'{path}' is truncated: {len(first)} bytes are not even the header of an idx file")
    magic, *shape = header.unpack(first)
    if magic != BYTES + axes:
        raise DataError(
            f"'{path}' is not an idx file of {what}: its magic number is 0x{magic:08x} instead of "
            f"0x{BYTES + axes:08x}"
        )
    expected = header.size + math.prod(shape)
    if expected > LARGEST:
        raise DataError(f"'{path}' must hold at most {LARGEST:,} bytes, its header says {expected:,}")
    data = file_content(path, expected + SPARE)
    if len(data) != expected:
        fault = "truncated" if len(data) < expected else "damaged"
        sizes = " x ".join(map(str, shape))
        raise DataError(
            f"'{path}' is {fault}: {sizes} {items} and a header need {expected:,} bytes, it has {len(data):,}"
        )
    return np.frombuffer(data, dtype=np.uint8, offset=header.size).reshape(shape)
