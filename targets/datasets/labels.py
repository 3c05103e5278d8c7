"""The classes of images: labels in idx files beside those of the images, and those of the small digits."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from targets.datasets.dataset import DataError
from targets.datasets.digits import CYCLE
from targets.datasets.places import content

MAGIC = 0x00000801
"""Unsigned bytes (8) along one axis (1)."""
HEADER = struct.Struct(">2I")


def read_labels(path: Path) -> NDArray[np.uint8]:
    """The labels of an idx file, plain or gzipped, uint8 ``(images,)``.

    Raises:
        DataError: if the file is damaged, is not idx with one axis of bytes, or is not as long as it says.
    """
    data = content(path)
    if len(data) < HEADER.size:
        raise DataError(f"'{path}' is truncated: {len(data)} bytes are not even the header of an idx file")
    magic, number = HEADER.unpack_from(data)
    if magic != MAGIC:
        raise DataError(
            f"'{path}' is not an idx file of labels: its magic number is 0x{magic:08x} instead of "
            f"0x{MAGIC:08x}"
        )
    if len(data) != HEADER.size + number:
        raise DataError(
            f"'{path}' is damaged: {number} labels and a header need {HEADER.size + number:,} bytes, "
            f"it has {len(data):,}"
        )
    return np.frombuffer(data, dtype=np.uint8, offset=HEADER.size)


def digit_labels() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The labels of the training and of the test images of `targets.datasets.digits`."""
    # Imported here, as it takes a second that no other data set should pay.
    from sklearn.datasets import load_digits  # type: ignore[import-untyped, unused-ignore]

    labels = load_digits().target.astype(np.int64)
    place = np.arange(len(labels)) % CYCLE
    return labels[place < CYCLE - 2], labels[place == CYCLE - 1]
