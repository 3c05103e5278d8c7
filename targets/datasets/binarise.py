"""From grey values to zeros and ones."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from targets.datasets.dataset import DataError
from targets.randomness import derive_seed, uniform

BINARISATIONS = ("threshold", "stochastic", "dynamic", "binary")
TRAINING = "training"
"""Name of the part that a dynamic set draws anew."""
BLOCK = 4096
"""Images whose random numbers are in memory at one time."""
LARGEST_SEED = 2**32 - 1
"""Of NumPy's older generator."""


def binariser(
    name: str, binarisation: str, threshold: float, seed: int
) -> Callable[[NDArray[np.uint8], int, str], Tensor]:
    """The function that makes zeros and ones of ``(images, *pixels)``, its white value and its part's name.

    ``threshold`` is 1 where grey / white > `threshold`; ``stochastic`` is one Bernoulli draw of each
    grey value, the same in every load with this `seed`; ``binary`` takes what is black or white already.
    ``dynamic`` is for training images that are drawn anew by the batch (`Dataset.grey`): of them it gives one
    draw, as ``stochastic`` does; all other parts are drawn once for all with NumPy's older generator, one
    after the other as they are asked for. With seed 777, validation before test, that is what the code of
    the papers on deep energy-based models draws (vamp_utils.py).

    Args:
        name: the data set, for messages.
        binarisation: one of `BINARISATIONS`.
        threshold: from 0 to 1, of ``threshold`` alone.
        seed: of ``stochastic`` and ``dynamic``.

    Returns:
        A function to uint8 ``(images, pixels)``, which raises `DataError` where ``binary`` meets grey.

    Raises:
        DataError: if an argument is not allowed.
    """
    if binarisation not in BINARISATIONS:
        raise DataError(f"binarisation must be one of {', '.join(BINARISATIONS)}, {binarisation!r} was given")
    if not isinstance(threshold, (int, float)) or isinstance(threshold, bool) or not 0 <= threshold <= 1:
        raise DataError(f"threshold must be a number from 0 to 1, {threshold!r} was given")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise DataError(f"seed must be a whole number of at least 0, {seed!r} was given")
    if binarisation == "dynamic" and seed > LARGEST_SEED:
        raise DataError(
            f"seed must be at most {LARGEST_SEED} where binarisation is dynamic, {seed} was given"
        )
    # Not of `targets.randomness`: only this generator gives the images that published likelihoods are of.
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
    """One Bernoulli draw of each pixel, image by image: black and white, too, take their turn."""
    drawn = torch.empty(flat.shape, dtype=torch.uint8)
    for start in range(0, len(flat), BLOCK):
        # Divided in single precision, as there: a last digit more could flip a pixel.
        grey = flat[start : start + BLOCK].astype(np.float32) / np.float32(white)
        drawn[start : start + BLOCK] = torch.from_numpy(generator.binomial(1, grey))
    return drawn


def as_tensor(values: NDArray[np.uint8] | NDArray[np.bool_]) -> Tensor:
    """The same values, uint8, in one block."""
    # Arrays that share a file's bytes cannot be written to, and torch wants that it could.
    return torch.from_numpy(np.require(values.astype(np.uint8, copy=False), requirements=["C", "W"]))
