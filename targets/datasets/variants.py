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
        variants: the known forms of the data set, the whole or a subset that replaces it: numbers of images
            ``train``, ``validation`` and ``test``; ``mean`` of all training pixels before binarisation, from
            0 (black) to 1 (white), and its ``tolerance``, None if unknown; and a ``note`` that must accompany
            results.
        threshold: for the binarisation ``threshold``; 0.5 by default.
        seed: for the binarisations ``stochastic`` and ``dynamic``; 0 by default.
    """

    binarisation: str
    shape: Sequence[int]
    variants: Sequence[Mapping[str, Any]]
    threshold: NotRequired[float]
    seed: NotRequired[int]


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
    counts = {"train": len(images.train), "validation": len(images.validation), "test": len(images.test)}
    found = f"training, validation and test images, '{images.source}' holds"
    variant = known_variant(form["variants"], counts, f"{name} has", found)
    known, mean = variant["mean"], images.train.mean(dtype=np.float64).item() / images.white
    if known is not None and not abs(mean - known) <= variant["tolerance"]:
        raise DataError(
            f"the training pixels of {name} have the mean {known:g} (+- {variant['tolerance']:g}), "
            f"those in '{images.source}' have {mean:.4f}"
        )
    binarise = binariser(name, form["binarisation"], form.get("threshold", 0.5), form.get("seed", 0))
    train, validation, test = (binarise(values, images.white, part) for part, values in parts.items())
    pixels = height * width
    grey = as_tensor(images.train.reshape(-1, pixels)) if form["binarisation"] == "dynamic" else None
    shown = None if form["binarisation"] == "binary" else as_tensor(images.test.reshape(-1, pixels))
    return Dataset(
        name,
        train,
        validation,
        test,
        shape=(height, width),
        note=variant.get("note"),
        grey=grey,
        grey_test=shown,
        white=images.white,
    )


def known_variant(
    variants: Sequence[Mapping[str, Any]], counts: Mapping[str, int], wanted: str, found: str
) -> Mapping[str, Any]:
    """The known form with these counts of its parts.

    Raises:
        DataError: if there is none; `wanted` and `found` are the words before the known and actual counts.
    """

    def shown(numbers: Mapping[str, Any]) -> str:
        return " + ".join(f"{numbers[part]:,}" for part in counts)

    for variant in variants:
        if all(variant[part] == count for part, count in counts.items()):
            return variant
    raise DataError(f"{wanted} {' or '.join(map(shown, variants))} {found} {shown(counts)}")


def no_images(shape: Sequence[int]) -> NDArray[np.uint8]:
    """An empty part, ``(0, height, width)``."""
    return np.zeros((0, *shape), dtype=np.uint8)
