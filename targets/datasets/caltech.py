"""Caltech-101 silhouettes of 28 x 28 pixels (Marlin et al. 2010), split 1."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.fetch import fetch
from targets.datasets.files.places import content, data_root, found_or_fetched
from targets.datasets.variants import GreyImages, ImageForm, checked_dataset


def load_caltech(
    root: str | None,
    *,
    file: Mapping[str, str],
    **form: Unpack[ImageForm],
) -> Dataset:
    """The silhouettes, the figure 1 and the ground 0, in the published split.

    Args:
        root: folder of all data sets.
        file: ``path`` below `root`, ``url`` and ``sha256`` of the published ``.mat``.
        form: see `targets.datasets.variants.ImageForm`.

    Raises:
        DataError: if the file is missing and cannot be downloaded, or is damaged, or is none of `variants`.
    """
    folder = data_root("caltech", root)
    path = file["path"]
    files = found_or_fetched(
        "caltech", folder, [{"all": path}], "the published MATLAB file", lambda: fetch(folder, {path: file})
    )
    train, validation, test = _read(files["all"], file["sha256"], form["shape"])
    grey = GreyImages(str(files["all"]), train, validation, test, white=1)
    return checked_dataset("caltech", grey, form)


def _read(path: Path, sha256: str, shape: Sequence[int]) -> list[NDArray[np.uint8]]:
    """Training, validation and test images; in the file the figure is 0 and columns come before rows."""
    from scipy.io import loadmat

    data = content(path)
    digest = hashlib.sha256(data).hexdigest()
    # Checked before it is parsed: SciPy can crash on a damaged MATLAB file.
    if digest != sha256:
        raise DataError(
            f"'{path}' is damaged or another file: it has the SHA-256 {digest}, {sha256} is published"
        )
    keys = ("train_data", "val_data", "test_data")
    matrices = loadmat(io.BytesIO(data), variable_names=keys)
    height, width = shape
    parts = []
    for key in keys:
        rows = matrices.get(key)
        if rows is None or rows.ndim != 2 or rows.shape[1] != height * width:
            found = "it is missing" if rows is None else f"it has the shape {rows.shape}"
            raise DataError(f"'{path}' must hold {key} with {height * width} values a row, {found}")
        if not np.isin(rows, (0, 1)).all():
            raise DataError(f"caltech is not binary: {key} in '{path}' holds values other than 0 and 1")
        parts.append((1 - rows.astype(np.uint8)).reshape(-1, width, height).transpose(0, 2, 1))
    return parts
