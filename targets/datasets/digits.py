"""The 1,797 small digits that scikit-learn ships: real images for which nothing is downloaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from targets.datasets.dataset import Dataset
from targets.datasets.variants import Grey, checked

WHITE = 16
CYCLE = 7
"""Of every seven images in file order, five are for training, the sixth for validation, the last for test."""


def load(
    root: str | None,
    binarisation: str,
    *,
    shape: Sequence[int],
    variants: Sequence[Mapping[str, Any]],
    threshold: float = 0.5,
    seed: int = 0,
) -> Dataset:
    """The digits, in a split of our own as they have none.

    Args:
        root: not used, as they come with scikit-learn.
        binarisation: ``threshold``, ``stochastic``, ``dynamic`` or ``binary``.
        shape: height and width of an image.
        variants: the forms that are known, see `targets.datasets.variants.Variant`.
        threshold: of the binarisation ``threshold``.
        seed: of the binarisations ``stochastic`` and ``dynamic``.

    Raises:
        DataError: if they are not what `variants` says.
    """
    # Imported here, as it takes a second that no other data set should pay.
    from sklearn.datasets import load_digits  # type: ignore[import-untyped, unused-ignore]

    images = load_digits().images.astype(np.uint8)
    place = np.arange(len(images)) % CYCLE
    train, validation, test = (
        images[place < CYCLE - 2],
        images[place == CYCLE - 2],
        images[place == CYCLE - 1],
    )
    grey = Grey("sklearn.datasets.load_digits", train, validation, test, WHITE)
    return checked("digits", grey, shape, variants, binarisation, threshold, seed)
