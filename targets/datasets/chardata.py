"""Omniglot in 28 x 28 pixels as Burda et al. (2016) made it: the MATLAB file ``chardata.mat``."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.grey_values import WHITE, as_bytes
from targets.datasets.files.matlab import check_digest, matrices
from targets.datasets.files.places import data_root, file_content, found_or_fetched
from targets.datasets.variants import GreyImages, ImageForm, checked_dataset

NAME = "omniglot_burda"
KEYS = ("data", "testdata")


def load_chardata(
    root: str | None,
    *,
    file: Mapping[str, str],
    derived: Mapping[str, str],
    validation: int,
    shuffle: int,
    **form: Unpack[ImageForm],
) -> Dataset:
    """Burda's training and test images, ink bright; the last of the shuffled training images are held out.

    Args:
        root: folder of all data sets.
        file: ``path`` below `root` and ``url`` of the published file.
        derived: ``path`` and ``sha256`` of a substitute that was made from the original images, which is read
            if the published file is missing, and recognised under either name.
        validation: number of training images that are held out.
        shuffle: seed of the order of the training images, for NumPy's legacy generator.
        form: see `targets.datasets.variants.ImageForm`; of its variants the first is of the published file,
            the second of the derived one.

    Raises:
        DataError: if the file is missing or damaged, or none of `variants`.
    """
    folder = data_root(NAME, root)

    def fetch() -> None:
        raise DataError(f"what {file['url']} holds cannot be checked, as its SHA-256 is not known here")

    places = [{"all": file["path"]}, {"all": derived["path"]}]
    path = found_or_fetched(NAME, folder, places, "a MATLAB file", fetch)["all"]
    data = file_content(path)
    if path.name.removesuffix(".gz") == Path(derived["path"]).name:
        check_digest(path, data, derived["sha256"], "known")
    is_derived = hashlib.sha256(data).hexdigest() == derived["sha256"]
    train, test, note = _read(data, path, form["shape"])
    # Not from `targets.randomness`: the papers' code shuffles with this generator.
    train = train[np.random.RandomState(shuffle).permutation(len(train))]
    train, held_out = np.split(train, [max(len(train) - validation, 0)])
    grey = GreyImages(str(path), train, held_out, test, WHITE)
    known = form["variants"][1 if is_derived else 0]
    found = checked_dataset(NAME, grey, {**form, "variants": [known]})
    return dataclasses.replace(found, note="; ".join(filter(None, (found.note, note))) or None)


def _read(
    data: bytes, path: Path, shape: Sequence[int]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], str | None]:
    """Training and test images, and a note on their values; an image is a column of the file, transposed."""
    height, width = shape
    found = dict(zip(KEYS, matrices(path, data, KEYS, height * width, axis=0), strict=True))
    grey, note = as_bytes(found, str(path))
    train, test = (grey[key].T.reshape(-1, width, height).transpose(0, 2, 1) for key in KEYS)
    return train, test, note
