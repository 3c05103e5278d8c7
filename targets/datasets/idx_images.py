"""MNIST and its relatives EMNIST, KMNIST and Fashion-MNIST: idx files where torchvision puts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from targets.checks import one_of, whole_number
from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.fetch import from_torchvision
from targets.datasets.files.idx import read_images
from targets.datasets.files.places import Place, data_root, found_or_fetched
from targets.datasets.variants import GreyImages, ImageForm, checked_dataset

SETS: dict[str, tuple[str, dict[str, object]]] = {
    "MNIST": ("mnist", {}),
    "KMNIST": ("kmnist", {}),
    "EMNIST": ("emnist", {"split": "mnist"}),
    "FashionMNIST": ("fashion_mnist", {}),
}
"""By torchvision's class: the name of the set here, and the class's arguments for a download."""


def load_idx_images(
    root: str | None,
    *,
    torchvision: str,
    places: Sequence[Place],
    transposed: bool = False,
    validation: int = 0,
    known_as: str | None = None,
    **form: Unpack[ImageForm],
) -> Dataset:
    """The set below `root`, downloaded by torchvision where it is missing.

    Args:
        root: folder of all data sets.
        torchvision: its class, one of `SETS`.
        places: pairs of files ``train`` and ``test``; the first complete pair is read.
        transposed: whether rows and columns are exchanged in the file.
        validation: number of training images, the last ones, that are held out for validation.
        known_as: the name of the set here, if it differs from that in `SETS`.
        form: see `targets.datasets.variants.ImageForm`.

    Raises:
        DataError: if it is missing and cannot be downloaded, or damaged, or none of `variants`.
    """
    one_of("torchvision", torchvision, tuple(SETS), DataError)
    whole_number("validation", validation, 0, DataError)
    usual, options = SETS[torchvision]
    name = known_as or usual
    folder = data_root(name, root)
    images = list(places[0].values())
    labels = [path.replace("images-idx3", "labels-idx1") for path in images]

    def fetch() -> None:
        from_torchvision(folder, torchvision, [*images, *labels], [options])

    files = found_or_fetched(name, folder, places, "idx files, plain or .gz", fetch)
    train, test = (read_images(files[part]) for part in ("train", "test"))
    if transposed:
        train, test = train.transpose(0, 2, 1), test.transpose(0, 2, 1)
    train, held_out = np.split(train, [max(len(train) - validation, 0)])
    grey = GreyImages(str(files["train"].parent), train, held_out, test, white=255)
    return checked_dataset(name, grey, form)
