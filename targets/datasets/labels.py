"""Class labels of the small digits; those of idx images are read by `targets.datasets.files.idx`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from targets.datasets.digits import CYCLE


def digit_labels() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The labels of the training and of the test images of `targets.datasets.digits`."""
    # Imported here, since the import takes a second and no other data set needs it.
    from sklearn.datasets import load_digits  # type: ignore[import-untyped, unused-ignore]

    labels = load_digits().target.astype(np.int64)
    place = np.arange(len(labels)) % CYCLE
    return labels[place < CYCLE - 2], labels[place == CYCLE - 1]
