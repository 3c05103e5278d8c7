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

BINARISATIONS = ("threshold", "stochastic", "binary")
BLOCK = 4096
"""Images whose random numbers are in memory at one time."""


def binariser(
    name: str, binarisation: str, threshold: float, seed: int
) -> Callable[[NDArray[np.uint8], int, str], Tensor]:
    """The function that makes zeros and ones of ``(images, *pixels)``, its white value and its part's name.

    ``threshold`` is 1 where grey / white > `threshold`; ``stochastic`` is one Bernoulli draw of each
    grey value, the same in every load with this `seed`; ``binary`` takes what is black or white already.

    Args:
        name: the data set, for messages.
        binarisation: one of `BINARISATIONS`.
        threshold: from 0 to 1, of ``threshold`` alone.
        seed: of ``stochastic`` alone.

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

    def binarise(images: NDArray[np.uint8], white: int, part: str) -> Tensor:
        flat = images.reshape(len(images), math.prod(images.shape[1:]))
        if binarisation == "threshold":
            return _tensor(flat > np.uint8(threshold * white))
        if binarisation == "stochastic":
            return _drawn(flat, white, derive_seed(seed, f"{name}/{part}"))
        if not np.isin(flat, (0, white)).all():
            raise DataError(
                f"{name} is not binary: its {part} images hold grey values, so binarisation must be "
                "threshold or stochastic, 'binary' was given"
            )
        return _tensor(flat > 0)

    return binarise


def _drawn(flat: NDArray[np.uint8], white: int, seed: int) -> Tensor:
    """One Bernoulli draw of each pixel, float32 numbers against grey / white."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.empty(flat.shape, dtype=torch.uint8)
    for start in range(0, len(flat), BLOCK):
        grey = _tensor(flat[start : start + BLOCK]).float() / white
        numbers = uniform(generator, (len(grey),), (grey.shape[1],), like=grey)
        drawn[start : start + BLOCK] = numbers < grey
    return drawn


def _tensor(values: NDArray[np.uint8] | NDArray[np.bool_]) -> Tensor:
    # Arrays that share a file's bytes cannot be written to, and torch wants that it could.
    return torch.from_numpy(np.require(values.astype(np.uint8, copy=False), requirements=["C", "W"]))
