"""A user's own images, zeros and ones or grey: ``target.dataset=PATH.npz``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from targets.datasets.binarise import TRAINING, as_tensor, binariser
from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.grey_values import WHITE, as_bytes
from targets.datasets.files.places import one_line
from targets.datasets.variants import no_images

PARTS = ("train", "validation", "test")


def load(root: str | None, binarisation: str, *, path: str, threshold: float = 0.5, seed: int = 0) -> Dataset:
    """The arrays ``train``, ``test`` and, where it is there, ``validation`` of an ``.npz`` file.

    Each is ``(images, pixels)`` or ``(images, height, width)`` and holds 0 and 1 alone, of any dtype; with a
    binarisation of grey values, numbers between 0 and 1 or whole ones from 0 to 255 (`grey_values.as_bytes`).
    Flat images are taken to be square where their number of pixels is a square, else a single row.

    Args:
        root: not used, as `path` says all.
        binarisation: ``binary``, or ``threshold``, ``stochastic`` or ``dynamic`` for grey values.
        path: the file.
        threshold: of the binarisation ``threshold``.
        seed: of the binarisations ``stochastic`` and ``dynamic``.

    Raises:
        DataError: if the file is missing, damaged, or holds anything else.
    """
    # One name for all files: what they are called is no part of what their images are.
    binarise = binariser("npz", binarisation, threshold, seed)
    arrays = _read(Path(path).expanduser(), path)
    shape = _shape(arrays["train"], path)
    for name, values in arrays.items():
        if values.shape[1:] != arrays["train"].shape[1:]:
            raise DataError(
                f"the images in '{path}' must have one shape, {name} has {values.shape[1:]} and "
                f"train {arrays['train'].shape[1:]}"
            )
        if binarisation == "binary" and not ((values == 0) | (values == 1)).all():
            raise DataError(
                f"'{path}' is not binary: {name} holds values other than 0 and 1, for grey ones binarisation "
                "must be threshold, stochastic or dynamic"
            )
    flat = {name: values.reshape(len(values), math.prod(shape)) for name, values in arrays.items()}
    grey, note = as_bytes(flat, path)
    train, validation, test = (
        binarise(grey.get(name, no_images(shape)), WHITE, TRAINING if name == "train" else name)
        for name in PARTS
    )
    kept = as_tensor(grey["train"]) if binarisation == "dynamic" else None
    return Dataset(Path(path).stem, train, validation, test, shape, note, grey=kept, white=WHITE)


def _read(file: Path, path: str) -> dict[str, NDArray[Any]]:
    """The arrays by name, all of numbers along two or three axes."""
    if not file.is_file():
        raise DataError(
            f"'{path}' is missing: target.dataset must name an .npz file with the arrays train and test"
        )
    try:
        with np.load(file, allow_pickle=False) as content:
            arrays = {name: np.asarray(content[name]) for name in content.files}
    except Exception as error:  # NumPy raises whatever a damaged byte leads it to.
        raise DataError(f"'{path}' is damaged or not an .npz file of numbers: {one_line(error)}") from error
    wrong = [name for name in arrays if name not in PARTS]
    missing = [name for name in ("train", "test") if name not in arrays]
    if wrong or missing:
        raise DataError(
            f"'{path}' must hold the arrays train, test and, if there is one, validation, "
            f"it holds {', '.join(sorted(arrays)) or 'nothing'}"
        )
    for name, values in arrays.items():
        if values.ndim not in (2, 3) or values.dtype.kind not in "buif":
            raise DataError(
                f"'{path}' must hold numbers as (images, pixels) or (images, height, width), "
                f"{name} is {values.dtype} of the shape {values.shape}"
            )
    return arrays


def _shape(train: NDArray[Any], path: str) -> tuple[int, int]:
    """Height and width of an image."""
    if train.size == 0:
        raise DataError(f"'{path}' must hold at least one training image, train has the shape {train.shape}")
    if train.ndim == 3:
        return train.shape[1], train.shape[2]
    side = math.isqrt(train.shape[1])
    return (side, side) if side * side == train.shape[1] else (1, train.shape[1])
