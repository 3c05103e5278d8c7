"""MNIST and its relatives EMNIST, KMNIST and Fashion-MNIST: idx files where torchvision puts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from targets.datasets.dataset import DataError, Dataset
from targets.datasets.fetch import from_torchvision
from targets.datasets.idx import read_images
from targets.datasets.places import Place, data_root, found_or_fetched
from targets.datasets.variants import Grey, checked, no_images

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
    threshold: float = 0.5,
    seed: int = 0,
) -> Dataset:
    """The set below `root`, downloaded by torchvision where it is missing.

    Args:
        root: folder of all data sets.
        binarisation: ``threshold``, ``stochastic`` or ``binary``.
        torchvision: its class, one of `SETS`.
        places: pairs of files ``train`` and ``test``, the first complete pair is read.
        shape: height and width of an image.
        variants: the forms that are known, see `targets.datasets.variants.Variant`.
        transposed: whether rows and columns are exchanged in the file.
        threshold: of the binarisation ``threshold``.
        seed: of the binarisation ``stochastic``.

    Raises:
        DataError: if it is missing and cannot be downloaded, or damaged, or not one of `variants`.
    """
    if torchvision not in SETS:
        raise DataError(f"torchvision must be one of {', '.join(SETS)}, {torchvision!r} was given")
    name, options = SETS[torchvision]
    folder = data_root(name, root)
    images = list(places[0].values())
    labels = [path.replace("images-idx3", "labels-idx1") for path in images]

    def fetch() -> None:
        from_torchvision(folder, torchvision, [*images, *labels], [options])

    files = found_or_fetched(name, folder, places, "idx files, plain or .gz", fetch)
    train, test = (read_images(files[part]) for part in ("train", "test"))
    if transposed:
        train, test = train.transpose(0, 2, 1), test.transpose(0, 2, 1)
    grey = Grey(str(files["train"].parent), train, no_images(train.shape[1:]), test, white=255)
    return checked(name, grey, shape, variants, binarisation, threshold, seed)
