"""MNIST and its relatives EMNIST, KMNIST and Fashion-MNIST: idx files where torchvision puts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.fetch import from_torchvision
from targets.datasets.files.idx import read_images
from targets.datasets.files.places import Place, data_root, found_or_fetched
from targets.datasets.variants import Grey, checked

SETS: dict[str, tuple[str, dict[str, object]]] = {
    "MNIST": ("mnist", {}),
    "KMNIST": ("kmnist", {}),
    "EMNIST": ("emnist", {"split": "mnist"}),
    "FashionMNIST": ("fashion_mnist", {}),
}
"""By torchvision's class: the name of the set here, and what the class needs to download it."""


def load(
    root: str | None,
    binarisation: str,
    *,
    torchvision: str,
    places: Sequence[Place],
    shape: Sequence[int],
    variants: Sequence[Mapping[str, Any]],
    transposed: bool = False,
    validation: int = 0,
    known_as: str | None = None,
    threshold: float = 0.5,
    seed: int = 0,
) -> Dataset:
    """The set below `root`, downloaded by torchvision where it is missing.

    Args:
        root: folder of all data sets.
        binarisation: ``threshold``, ``stochastic``, ``dynamic`` or ``binary``.
        torchvision: its class, one of `SETS`.
        places: pairs of files ``train`` and ``test``, the first complete pair is read.
        shape: height and width of an image.
        variants: the forms that are known, see `targets.datasets.variants.Variant`.
        transposed: whether rows and columns are exchanged in the file.
        validation: how many of the last training images are held out for validation.
        known_as: the name of the set here, where it is not that of `torchvision`.
        threshold: of the binarisation ``threshold``.
        seed: of the binarisations ``stochastic`` and ``dynamic``.

    Raises:
        DataError: if it is missing and cannot be downloaded, or damaged, or not one of `variants`.
    """
    if torchvision not in SETS:
        raise DataError(f"torchvision must be one of {', '.join(SETS)}, {torchvision!r} was given")
    usual, options = SETS[torchvision]
    name = known_as or usual
    if not isinstance(validation, int) or isinstance(validation, bool) or validation < 0:
        raise DataError(f"validation must be a whole number of at least 0, {validation!r} was given")
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
    grey = Grey(str(files["train"].parent), train, held_out, test, white=255)
    return checked(name, grey, shape, variants, binarisation, threshold, seed)
