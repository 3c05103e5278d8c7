"""Compressed arrays as the bytes of a file, and what can be read of one."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from targets.datasets.files.data_error import DataError
from targets.datasets.files.npz_arrays import read_arrays


def compressed(**arrays: np.ndarray) -> bytes:
    """The content of a file of these arrays; the same arrays give the same bytes."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def stored_arrays(path: Path, *names: str) -> dict[str, np.ndarray] | None:
    """The arrays called `names` in a file; None where they are not there or cannot be read."""
    try:
        return read_arrays(path, names)
    except DataError:
        return None
