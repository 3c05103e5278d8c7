"""MATLAB files: checked by their SHA-256, read by SciPy."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from targets.datasets.files.data_error import DataError
from targets.datasets.files.places import LARGEST, gzipped_beside, one_line


def check_digest(path: Path, data: bytes, sha256: str, what: str = "published") -> None:
    """Checks the content of a file before it is parsed: SciPy can crash on a damaged MATLAB file.

    Raises:
        DataError: if it has another SHA-256.
    """
    digest = hashlib.sha256(data).hexdigest()
    if digest != sha256:
        gzipped = gzipped_beside(path)
        instead = f"; without it '{gzipped}' is read" if gzipped else ""
        raise DataError(
            f"'{path}' is damaged or another file: it has the SHA-256 {digest}, {sha256} is {what}{instead}"
        )


def matrices(path: Path, data: bytes, keys: Sequence[str], pixels: int, axis: int) -> list[NDArray[Any]]:
    """The matrices of a file, with the pixels of an image along `axis`.

    Raises:
        DataError: if it cannot be read, or a matrix is missing or has another form.
    """
    from scipy.io import loadmat, whosmat

    try:
        sizes = {key: 8 * math.prod(shape) for key, shape, _ in whosmat(io.BytesIO(data)) if key in keys}
        if sum(sizes.values()) > LARGEST:
            raise ValueError(f"it says that it holds {sum(sizes.values()):,} bytes, {LARGEST:,} are allowed")
        content = loadmat(io.BytesIO(data), variable_names=keys)
    except Exception as error:  # SciPy raises many types of errors for damaged files.
        raise DataError(f"'{path}' is damaged or not a MATLAB file: {one_line(error)}") from error
    for key in keys:
        values = content.get(key)
        numeric = values is not None and values.ndim == 2 and values.dtype.kind in "buif"
        if not numeric or values.shape[axis] != pixels:
            found = "it is missing" if values is None else f"it is {values.dtype} of the shape {values.shape}"
            line = ("column", "row")[axis]
            raise DataError(f"'{path}' must hold {key} with {pixels} numbers a {line}, {found}")
    return [content[key] for key in keys]
