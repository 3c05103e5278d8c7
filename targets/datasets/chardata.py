"""Omniglot in 28 x 28 pixels as Burda et al. (2016) made it: the MATLAB file ``chardata.mat``."""

from __future__ import annotations

import dataclasses
import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.grey_values import WHITE, as_bytes
from targets.datasets.files.places import content, data_root, found_or_fetched, one_line
from targets.datasets.variants import Grey, checked

NAME = "omniglot_burda"
KEYS = ("data", "testdata")


def load(
    root: str | None,
    binarisation: str,
    *,
    file: Mapping[str, str],
    derived: Mapping[str, str],
    validation: int,
    shuffle: int,
    shape: Sequence[int],
    variants: Sequence[Mapping[str, Any]],
    threshold: float = 0.5,
    seed: int = 0,
) -> Dataset:
    """Burda's training and test images, ink bright; of the shuffled training images the last are held out.

    Args:
        root: folder of all data sets.
        binarisation: ``threshold``, ``stochastic``, ``dynamic`` or ``binary``.
        file: ``path`` below `root` and ``url`` of the published file.
        derived: ``path`` and ``sha256`` of the file that somebody made from the originals in its form, read
            where the published one is not, and known under either name.
        validation: how many training images are held out.
        shuffle: seed of the order of the training images, of NumPy's older generator.
        shape: height and width of an image.
        variants: the forms that are known, see `targets.datasets.variants.Variant`; the first is of the
            published file, the second of the derived one.
        threshold: of the binarisation ``threshold``.
        seed: of the binarisations ``stochastic`` and ``dynamic``.

    Raises:
        DataError: if it is missing or damaged, or not one of `variants`.
    """
    folder = data_root(NAME, root)

    def fetch() -> None:
        raise DataError(f"what {file['url']} holds cannot be checked, as its SHA-256 is not known here")

    places = [{"all": file["path"]}, {"all": derived["path"]}]
    path = found_or_fetched(NAME, folder, places, "a MATLAB file", fetch)["all"]
    data = content(path)
    digest = hashlib.sha256(data).hexdigest()
    stands_in = digest == derived["sha256"]
    if not stands_in and path.name.removesuffix(".gz") == Path(derived["path"]).name:
        raise DataError(
            f"'{path}' is damaged or another file: it has the SHA-256 {digest}, {derived['sha256']} is known"
        )
    train, test, note = _read(data, path, shape)
    # Not of `targets.randomness`: the peers' code shuffles with this generator.
    train = train[np.random.RandomState(shuffle).permutation(len(train))]
    train, held_out = np.split(train, [max(len(train) - validation, 0)])
    grey = Grey(str(path), train, held_out, test, WHITE)
    known = variants[1] if stands_in else variants[0]
    found = checked(NAME, grey, shape, [known], binarisation, threshold, seed)
    return dataclasses.replace(found, note="; ".join(filter(None, (found.note, note))) or None)


def _read(
    data: bytes, path: Path, shape: Sequence[int]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], str | None]:
    """Training and test images, and the note of their values; in the file an image is a column, read down."""
    from scipy.io import loadmat

    try:
        matrices = loadmat(io.BytesIO(data), variable_names=KEYS)
    except Exception as error:  # SciPy raises whatever a damaged byte leads it to.
        raise DataError(f"'{path}' is damaged or not a MATLAB file: {one_line(error)}") from error
    height, width = shape
    arrays = {}
    for key in KEYS:
        values = matrices.get(key)
        if (
            values is None
            or values.ndim != 2
            or len(values) != height * width
            or values.dtype.kind not in "buif"
        ):
            found = "it is missing" if values is None else f"it is {values.dtype} of the shape {values.shape}"
            raise DataError(f"'{path}' must hold {key} with {height * width} numbers a column, {found}")
        arrays[key] = values
    found_bytes, note = as_bytes(arrays, str(path))
    train, test = (found_bytes[key].T.reshape(-1, width, height).transpose(0, 2, 1) for key in KEYS)
    return train, test, note
