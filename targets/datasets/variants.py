"""What is known of a data set before it is read: how many images, of what shape, how bright."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from targets.datasets.binarise import TRAINING, as_tensor, binariser
from targets.datasets.dataset import DataError, Dataset


@dataclass(frozen=True)
class Grey:
    """Images as they lie in a file, viewed the right way round, ink or figure bright.

    Attributes:
        source: the file or folder they come from, for messages.
        train, validation, test: uint8 ``(images, height, width)``, from 0 to `white`.
        white: the brightest value that a pixel can have.
    """

    source: str
    train: NDArray[np.uint8]
    validation: NDArray[np.uint8]
    test: NDArray[np.uint8]
    white: int


@dataclass(frozen=True)
class Variant:
    """One known form of a data set: the whole, or a subset that stands for it.

    Attributes:
        train, validation, test: numbers of images.
        mean: mean grey value of all training pixels, from 0 (black) to 1 (white), before binarisation; None
            where it is not known.
        tolerance: how far a file's mean may be from it; None with it.
        note: what must be said beside a number measured on it; None for the whole published set.
    """

    train: int
    validation: int
    test: int
    mean: float | None
    tolerance: float | None
    note: str | None = None

    def counts(self) -> str:
        """Such as ``60,000 + 0 + 10,000``."""
        return " + ".join(f"{count:,}" for count in (self.train, self.validation, self.test))


def checked(
    name: str,
    images: Grey,
    shape: Sequence[int],
    variants: Sequence[Mapping[str, Any]],
    binarisation: str,
    threshold: float,
    seed: int,
) -> Dataset:
    """The binary data set, once its shape, counts and mean are those of one of `variants`.

    Raises:
        DataError: naming the file and what it holds, where they are not.
    """
    height, width = shape
    parts = {TRAINING: images.train, "validation": images.validation, "test": images.test}
    for part, values in parts.items():
        if values.shape[1:] != (height, width):
            found = " x ".join(map(str, values.shape[1:]))
            raise DataError(
                f"{name} has images of {height} x {width} pixels, the {part} images in '{images.source}' "
                f"have {found}"
            )
        if values.max(initial=0) > images.white:
            raise DataError(
                f"{name} has values from 0 to {images.white}, the {part} images in '{images.source}' "
                f"go up to {values.max()}"
            )
    variant = _counted(name, images, [Variant(**known) for known in variants])
    mean = images.train.mean(dtype=np.float64).item() / images.white
    if variant.mean is not None and not abs(mean - variant.mean) <= (variant.tolerance or 0.0):
        raise DataError(
            f"the training pixels of {name} have the mean {variant.mean:g} (+- {variant.tolerance:g}), "
            f"those in '{images.source}' have {mean:.4f}"
        )
    binarise = binariser(name, binarisation, threshold, seed)
    train, validation, test = (binarise(values, images.white, part) for part, values in parts.items())
    kept = None
    if binarisation == "dynamic":
        kept = as_tensor(images.train.reshape(len(images.train), height * width))
    return Dataset(
        name, train, validation, test, (height, width), variant.note, grey=kept, white=images.white
    )


def _counted(name: str, images: Grey, variants: Sequence[Variant]) -> Variant:
    """The variant with as many images."""
    found = (len(images.train), len(images.validation), len(images.test))
    for variant in variants:
        if found == (variant.train, variant.validation, variant.test):
            return variant
    known = " or ".join(variant.counts() for variant in variants)
    raise DataError(
        f"{name} has {known} training, validation and test images, '{images.source}' holds "
        + " + ".join(f"{count:,}" for count in found)
    )


def no_images(shape: Sequence[int]) -> NDArray[np.uint8]:
    """The part that a set does not have, ``(0, height, width)``."""
    return np.zeros((0, *shape), dtype=np.uint8)
