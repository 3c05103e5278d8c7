"""Checks of a data set against its known forms: number of images, shape and mean grey value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from targets.datasets.binarise import TRAINING, as_tensor, binariser
from targets.datasets.dataset import DataError, Dataset


@dataclass(frozen=True)
class GreyImages:
    """The grey images of a file, upright, with bright ink or figure.

    Attributes:
        source: the file or folder, for messages.
        train, validation, test: uint8 ``(images, height, width)``, from 0 to `white`.
        white: the maximum grey value.
    """

    source: str
    train: NDArray[np.uint8]
    validation: NDArray[np.uint8]
    test: NDArray[np.uint8]
    white: int


class ImageForm(TypedDict):
    """The keys of ``conf/dataset`` that all loaders share.

    Attributes:
        binarisation: one of `targets.datasets.binarise.BINARISATIONS`.
        shape: height and width of an image.
        variants: the known forms of the data set, see `ImageVariant`.
        threshold: for the binarisation ``threshold``; 0.5 by default.
        seed: for the binarisations ``stochastic`` and ``dynamic``; 0 by default.
    """

    binarisation: str
    shape: Sequence[int]
    variants: Sequence[Mapping[str, Any]]
    threshold: NotRequired[float]
    seed: NotRequired[int]


@dataclass(frozen=True)
class ImageVariant:
    """One known form of a data set: the whole, or a subset that replaces it.

    Attributes:
        train, validation, test: numbers of images.
        mean: mean grey value of all training pixels, from 0 (black) to 1 (white), before binarisation; None
            if unknown.
        tolerance: largest allowed deviation from `mean`; None if `mean` is.
        note: remark that must accompany results; None for the whole published set.
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


def checked_dataset(name: str, images: GreyImages, form: ImageForm) -> Dataset:
    """The binarised data set, after its shape, counts and mean have been checked against `variants`.

    Raises:
        DataError: naming the file and its content, if it is none of `variants`.
    """
    height, width = form["shape"]
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
    variant = _counted(name, images, [ImageVariant(**known) for known in form["variants"]])
    mean = images.train.mean(dtype=np.float64).item() / images.white
    if variant.mean is not None and not abs(mean - variant.mean) <= (variant.tolerance or 0.0):
        raise DataError(
            f"the training pixels of {name} have the mean {variant.mean:g} (+- {variant.tolerance:g}), "
            f"those in '{images.source}' have {mean:.4f}"
        )
    binarise = binariser(name, form["binarisation"], form.get("threshold", 0.5), form.get("seed", 0))
    train, validation, test = (binarise(values, images.white, part) for part, values in parts.items())
    kept = None
    if form["binarisation"] == "dynamic":
        kept = as_tensor(images.train.reshape(len(images.train), height * width))
    return Dataset(
        name, train, validation, test, (height, width), variant.note, grey=kept, white=images.white
    )


def _counted(name: str, images: GreyImages, variants: Sequence[ImageVariant]) -> ImageVariant:
    """The variant with the same numbers of images."""
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
    """An empty part, ``(0, height, width)``."""
    return np.zeros((0, *shape), dtype=np.uint8)
