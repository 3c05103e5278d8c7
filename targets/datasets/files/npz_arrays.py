"""Arrays of an ``.npz`` file, whose sizes are compared with what it says of itself before any is read."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from targets.datasets.files.data_error import DataError
from targets.datasets.files.places import LARGEST, one_line

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_arrays(path: Path, names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays by name.

    Args:
        names: those to read, each of which must be there; all by default.

    Raises:
        DataError: if the file is damaged, too large, or not one of arrays of numbers.
    """
    try:
        _check_sizes(path)
        with np.load(path, allow_pickle=False) as content:
            return {name: np.asarray(content[name]) for name in (content.files if names is None else names)}
    except DataError:
        raise
    except Exception as error:  # NumPy and zlib raise many types of errors for damaged files.
        raise DataError(f"'{path}' is damaged or not an .npz file of numbers: {one_line(error)}") from error


def _check_sizes(path: Path) -> None:
    """Refuses an archive that is larger than `LARGEST`, or whose headers ask for more than is there."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if size > LARGEST:
            raise DataError(f"'{path}' must hold at most {LARGEST:,} bytes, it holds {size:,}")
        for member in archive.infolist():
            with archive.open(member) as file:
                needed = _size(file) + file.tell()
            if needed != member.file_size:
                raise DataError(
                    f"'{path}' is damaged: {member.filename} needs {needed:,} bytes, it has "
                    f"{member.file_size:,}"
                )


def _size(file: IO[bytes]) -> int:
    """Bytes of the array whose header comes next."""
    version = npy.read_magic(file)
    shape, _, dtype = HEADERS[version](file)
    if dtype.hasobject:
        raise ValueError("objects of Python are never read")
    return math.prod(shape) * dtype.itemsize
