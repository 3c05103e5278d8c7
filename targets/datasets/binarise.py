"""Binarisation of grey values."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from targets.checks import one_of, whole_number
from targets.datasets.dataset import DataError
from targets.randomness import derive_seed, uniform

BINARISATIONS = ("threshold", "stochastic", "dynamic", "binary")
TRAINING = "training"
"""Name of the part that is binarised again for every batch if the binarisation is dynamic."""
BLOCK = 4096
"""Number of images whose random numbers are in memory at a time."""
LARGEST_SEED = 2**32 - 1
"""Largest seed of NumPy's legacy generator."""


def binariser(
    name: str, binarisation: str, threshold: float, seed: int
) -> Callable[[NDArray[np.uint8], int, str], Tensor]:
    """The function that binarises images, given the images ``(images, *pixels)``, white value and part.

    - ``threshold``: 1 where grey / white > `threshold`.
    - ``stochastic``: one Bernoulli draw per pixel with probability grey / white, the same for the same
      `seed`.
    - ``binary``: for images that are black and white already.
    - ``dynamic``: training images are binarised again for every batch during training (`Dataset.grey`); here
      they get one draw, as with ``stochastic``. All other parts are drawn once with NumPy's legacy generator,
      in the order of the calls. With seed 777 and validation before test, these are the draws of the code of
      the papers on deep energy-based models (vamp_utils.py).

    Args:
        name: the data set, for messages.
        binarisation: one of `BINARISATIONS`.
        threshold: from 0 to 1; for ``threshold`` only.
        seed: for ``stochastic`` and ``dynamic``.

    Returns:
        A function that returns uint8 ``(images, pixels)``, and raises `DataError` if ``binary`` finds grey
        values.

    Raises:
        DataError: if an argument is invalid.
    """
    one_of("binarisation", binarisation, BINARISATIONS, DataError)
    whole_number("seed", seed, 0, DataError)
    if not isinstance(threshold, (int, float)) or isinstance(threshold, bool) or not 0 <= threshold <= 1:
        raise DataError(f"threshold must be a number from 0 to 1, {threshold!r} was given")
    if binarisation == "dynamic" and seed > LARGEST_SEED:
        raise DataError(
            f"seed must be at most {LARGEST_SEED} where binarisation is dynamic, {seed} was given"
        )
    # Not from `targets.randomness`: published likelihoods are of the images that this generator draws.
    held_out = np.random.RandomState(seed) if binarisation == "dynamic" else None

    def binarise(images: NDArray[np.uint8], white: int, part: str) -> Tensor:
        flat = images.reshape(len(images), math.prod(images.shape[1:]))
        if binarisation == "threshold":
            return as_tensor(flat > np.uint8(threshold * white))
        if held_out is not None and part != TRAINING:
            return _drawn_by_numpy(flat, white, held_out)
        if binarisation in ("stochastic", "dynamic"):
            return _drawn(flat, white, derive_seed(seed, f"{name}/{part}"))
        if not np.isin(flat, (0, white)).all():
            raise DataError(
                f"{name} is not binary: its {part} images hold grey values, so binarisation must be "
                "threshold, stochastic or dynamic, 'binary' was given"
            )
        return as_tensor(flat > 0)

    return binarise


def _drawn(flat: NDArray[np.uint8], white: int, seed: int) -> Tensor:
    """One Bernoulli draw of each pixel, float32 numbers against grey / white."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.empty(flat.shape, dtype=torch.uint8)
    for start in range(0, len(flat), BLOCK):
        grey = as_tensor(flat[start : start + BLOCK]).float() / white
        numbers = uniform(generator, (len(grey),), (grey.shape[1],), like=grey)
        drawn[start : start + BLOCK] = numbers < grey
    return drawn


def _drawn_by_numpy(flat: NDArray[np.uint8], white: int, generator: np.random.RandomState) -> Tensor:
    """One Bernoulli draw of each pixel, image by image; black and white pixels use a random number too."""
    drawn = torch.empty(flat.shape, dtype=torch.uint8)
    for start in range(0, len(flat), BLOCK):
        # In single precision, as in that code: the last digit could change a pixel.
        grey = flat[start : start + BLOCK].astype(np.float32) / np.float32(white)
        drawn[start : start + BLOCK] = torch.from_numpy(generator.binomial(1, grey))
    return drawn


def as_tensor(values: NDArray[np.uint8] | NDArray[np.bool_]) -> Tensor:
    """The same values as a contiguous uint8 tensor."""
    # Arrays that share a file's bytes are read-only, which torch does not support.
    return torch.from_numpy(np.require(values.astype(np.uint8, copy=False), requirements=["C", "W"]))
