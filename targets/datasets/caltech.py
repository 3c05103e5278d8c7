"""Caltech-101 silhouettes of 28 x 28 pixels (Marlin et al. 2010), split 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from targets.datasets.dataset import DataError, Dataset
from targets.datasets.fetch import fetch
from targets.datasets.places import data_root, found_or_fetched, one_line
from targets.datasets.variants import Grey, checked


def load(
    root: str | None,
    binarisation: str,
    *,
    file: Mapping[str, str],
    shape: Sequence[int],
    variants: Sequence[Mapping[str, Any]],
    threshold: float = 0.5,
    seed: int = 0,
) -> Dataset:
    """The silhouettes, the figure 1 and the ground 0, in the published split.

    Args:
        root: folder of all data sets.
        binarisation: ``binary``, or another, which changes nothing in what is binary.
        file: ``path`` below `root`, ``url`` and ``sha256`` of the published ``.mat``.
        shape: height and width of an image.
        variants: the forms that are known, see `targets.datasets.variants.Variant`.
        threshold: of the binarisation ``threshold``.
        seed: of the binarisation ``stochastic``.

    Raises:
        DataError: if the file is missing and cannot be fetched, or damaged, or not one of `variants`.
    """
    folder = data_root("caltech", root)
    path = file["path"]
    files = found_or_fetched(
        "caltech", folder, [{"all": path}], "the published MATLAB file", lambda: fetch(folder, {path: file})
    )
    train, validation, test = _read(files["all"], shape)
    grey = Grey(str(files["all"]), train, validation, test, white=1)
    return checked("caltech", grey, shape, variants, binarisation, threshold, seed)


def _read(path: Path, shape: Sequence[int]) -> list[NDArray[np.uint8]]:
    """Training, validation and test images; in the file the figure is 0 and columns come before rows."""
    from scipy.io import loadmat

    keys = ("train_data", "val_data", "test_data")
    try:
        content = loadmat(path, variable_names=keys)
    except Exception as error:  # SciPy raises whatever a damaged byte leads it to.
        raise DataError(f"'{path}' is damaged or not a MATLAB file: {one_line(error)}") from error
    height, width = shape
    parts = []
    for key in keys:
        data = content.get(key)
        if data is None or data.ndim != 2 or data.shape[1] != height * width:
            found = "it is missing" if data is None else f"it has the shape {data.shape}"
            raise DataError(f"'{path}' must hold {key} with {height * width} values a row, {found}")
        if not np.isin(data, (0, 1)).all():
            raise DataError(f"caltech is not binary: {key} in '{path}' holds values other than 0 and 1")
        parts.append((1 - data.astype(np.uint8)).reshape(-1, width, height).transpose(0, 2, 1))
    return parts
