"""The 1,797 small digits that scikit-learn ships: real images without a download."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from targets.datasets.dataset import Dataset
from targets.datasets.variants import GreyImages, ImageForm, checked_dataset

WHITE = 16
CYCLE = 7
"""Of every seven images in file order, five are for training, the sixth for validation, the last for test."""


def load_digit_images(root: str | None, **form: Unpack[ImageForm]) -> Dataset:
    """The digits, in a split of our own, as none is published.

    Args:
        root: not used, as the data come with scikit-learn.
        form: see `targets.datasets.variants.ImageForm`.

    Raises:
        DataError: if they are none of `variants`.
    """
    # Imported here, since the import takes a second and no other data set needs it.
    from sklearn.datasets import load_digits  # type: ignore[import-untyped, unused-ignore]

    images = load_digits().images.astype(np.uint8)
    place = np.arange(len(images)) % CYCLE
    parts = (images[place < CYCLE - 2], images[place == CYCLE - 2], images[place == CYCLE - 1])
    grey = GreyImages("sklearn.datasets.load_digits", *parts, WHITE)
    return checked_dataset("digits", grey, form)


def digit_labels() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The labels of the training and of the test images of `load_digit_images`."""
    from sklearn.datasets import load_digits

    labels = load_digits().target.astype(np.int64)
    place = np.arange(len(labels)) % CYCLE
    return labels[place < CYCLE - 2], labels[place == CYCLE - 1]
