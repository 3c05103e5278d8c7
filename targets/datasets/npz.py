"""A user's own images, zeros and ones or grey: ``target.dataset=PATH.npz``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from targets.datasets.binarise import TRAINING, as_tensor, binariser
from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.grey_values import WHITE, as_bytes
from targets.datasets.files.npz_arrays import read_arrays
from targets.datasets.files.user_paths import file_is_there, user_path
from targets.datasets.variants import no_images

PARTS = ("train", "validation", "test")


def load_npz(
    root: str | None, binarisation: str, *, path: str, threshold: float = 0.5, seed: int = 0
) -> Dataset:
    """The arrays ``train``, ``test`` and optionally ``validation`` of an ``.npz`` file.

    Each is ``(images, pixels)`` or ``(images, height, width)`` with values 0 and 1 of any dtype; if grey
    values are binarised, with numbers between 0 and 1 or integers from 0 to 255
    (`targets.datasets.files.grey_values.as_bytes`). Flat images are square if their number of pixels is a
    square, otherwise a single row.

    Args:
        root: not used.
        binarisation: ``binary``, or ``threshold``, ``stochastic`` or ``dynamic`` for grey values.
        path: the file.
        threshold: for the binarisation ``threshold``.
        seed: for the binarisations ``stochastic`` and ``dynamic``.

    Raises:
        DataError: if the file is missing, damaged, or contains anything else, or the threshold makes grey
            images of a part all 0 or all 1.
    """
    # The same name for all files, so that random binarisation does not depend on the file's name.
    binarise = binariser("npz", binarisation, threshold, seed)
    arrays = _read(user_path(path), path)
    shape = _shape(arrays["train"], path)
    if not len(arrays["test"]):
        raise DataError(
            f"'{path}' must hold at least one test image, test has the shape {arrays['test'].shape}"
        )
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
    grey, note = as_bytes(flat, path, threshold if binarisation == "threshold" else None)
    train, validation, test = (
        binarise(grey.get(name, no_images(shape)), WHITE, TRAINING if name == "train" else name)
        for name in PARTS
    )
    if binarisation == "threshold":
        _check_both(grey, {"train": train, "validation": validation, "test": test}, threshold, path)
    kept = as_tensor(grey["train"]) if binarisation == "dynamic" else None
    shown = None if binarisation == "binary" else as_tensor(grey["test"])
    name = Path(path).stem
    return Dataset(name, train, validation, test, shape, note, grey=kept, grey_test=shown, white=WHITE)


def _check_both(
    grey: Mapping[str, NDArray[np.uint8]], binary: Mapping[str, Tensor], threshold: float, path: str
) -> None:
    """Refuses a part with several grey values of which the threshold leaves one."""
    for name, values in grey.items():
        low, high = int(values.min(initial=WHITE)), int(values.max(initial=0))
        if low < high and (value := int(binary[name].min())) == int(binary[name].max()):
            raise DataError(
                f"'{path}' must hold grey values on both sides of threshold={threshold:g}, those of {name} "
                f"go from {low / WHITE:.3g} to {high / WHITE:.3g} and would all be {value}"
            )


def _read(file: Path, path: str) -> dict[str, NDArray[Any]]:
    """The arrays by name; all are numeric with two or three axes."""
    if not file_is_there(file):
        raise DataError(
            f"'{path}' is missing: target.dataset must name an .npz file with the arrays train and test"
        )
    arrays = read_arrays(file)
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
