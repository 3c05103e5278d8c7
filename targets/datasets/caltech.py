"""Caltech-101 silhouettes of 28 x 28 pixels (Marlin et al. 2010), split 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.fetch import fetch
from targets.datasets.files.matlab import check_digest, matrices
from targets.datasets.files.places import data_root, file_content, found_or_fetched
from targets.datasets.variants import GreyImages, ImageForm, checked_dataset


def load_caltech(root: str | None, *, file: Mapping[str, str], **form: Unpack[ImageForm]) -> Dataset:
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
    data = file_content(path)
    check_digest(path, data, sha256)
    height, width = shape
    keys = ("train_data", "val_data", "test_data")
    parts = []
    for key, rows in zip(keys, matrices(path, data, keys, height * width, axis=1), strict=True):
        if not np.isin(rows, (0, 1)).all():
            raise DataError(f"caltech is not binary: {key} in '{path}' holds values other than 0 and 1")
        parts.append((1 - rows.astype(np.uint8)).reshape(-1, width, height).transpose(0, 2, 1))
    return parts
