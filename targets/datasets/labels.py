"""The classes of the small digits; those of idx images lie in files that `files.idx` reads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from targets.datasets.digits import CYCLE


def digit_labels() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The labels of the training and of the test images of `targets.datasets.digits`."""
    # Imported here, as it takes a second that no other data set should pay.
    from sklearn.datasets import load_digits  # type: ignore[import-untyped, unused-ignore]

    labels = load_digits().target.astype(np.int64)
    place = np.arange(len(labels)) % CYCLE
    return labels[place < CYCLE - 2], labels[place == CYCLE - 1]
