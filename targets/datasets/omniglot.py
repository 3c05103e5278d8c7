"""Omniglot (Lake et al. 2015) in 28 x 28 pixels, ink bright."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Unpack
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.fetch import from_torchvision
from targets.datasets.files.npz_arrays import read_arrays
from targets.datasets.files.places import Place, data_root, found_or_fetched, one_line
from targets.datasets.variants import GreyImages, ImageForm, checked_dataset, no_images

WHITE = 255


def load_omniglot(root: str | None, *, originals: Place, derived: str, **form: Unpack[ImageForm]) -> Dataset:
    """The background set for training and the evaluation set for test.

    The papers' code tests on its training images; here training and test images are disjoint.

    Args:
        root: folder of all data sets.
        originals: ``train`` and ``test``, torchvision's paths of the two archives below `root`.
        derived: ``.npz`` with ``train_images`` and ``test_images`` made from them, read if they are missing.
        form: see `targets.datasets.variants.ImageForm`; of its variants the first is of the originals, the
            second of the file derived from them.

    Raises:
        DataError: if it is missing and cannot be downloaded, or damaged, or none of `variants`.
    """
    folder = data_root("omniglot", root)

    def fetch() -> None:
        from_torchvision(
            folder, "Omniglot", list(originals.values()), [{"background": True}, {"background": False}]
        )

    places = [originals, {"all": derived}]
    files = found_or_fetched("omniglot", folder, places, "the published archives", fetch)
    original = "train" in files
    train, test = _read_originals(folder, form["shape"]) if original else _read_derived(files["all"])
    source = folder / (originals["train"] if original else derived)
    grey = GreyImages(str(source), train, no_images(train.shape[1:]), test, WHITE)
    known = form["variants"][0 if original else 1]
    return checked_dataset("omniglot", grey, {**form, "variants": [known]})


def _read_originals(root: Path, shape: Sequence[int]) -> list[NDArray[np.uint8]]:
    """The archives' images as torchvision's ``Resize`` makes them, inverted, in the order of their names.

    Not from the folders beside them that torchvision unpacks: no digest says whether those are whole.
    """
    from PIL import Image
    from torchvision.datasets import Omniglot  # type: ignore[import-untyped, unused-ignore]
    from torchvision.datasets.utils import check_integrity  # type: ignore[import-untyped, unused-ignore]
    from torchvision.transforms import Resize  # type: ignore[import-untyped, unused-ignore]

    resize, folder = Resize(list(shape)), root / Omniglot.folder
    parts = []
    for name, md5 in Omniglot.zips_md5.items():
        try:
            if not check_integrity(str(folder / f"{name}.zip"), md5):
                raise ValueError(f"{name}.zip has another MD5 than {md5}")
            with ZipFile(folder / f"{name}.zip") as archive:
                files = [path for path in map(PurePosixPath, archive.namelist()) if path.match("*/*/*/*.png")]
                images = []
                for file in sorted(files):
                    with archive.open(str(file)) as content:
                        grey = Image.open(content).convert("RGB").convert("L")
                    images.append(np.asarray(resize(grey), dtype=np.uint8))
        except (OSError, BadZipFile, ValueError) as error:
            raise DataError(f"the archives in '{folder}' are damaged: {one_line(error)}") from error
        parts.append(WHITE - np.stack(images))
    return parts


def _read_derived(path: Path) -> list[NDArray[np.uint8]]:
    """``train_images`` and ``test_images``, uint8 with ink bright."""
    parts = read_arrays(path, ("train_images", "test_images"))
    for key, images in parts.items():
        if images.dtype != np.uint8 or images.ndim != 3:
            raise DataError(
                f"'{path}' must hold {key} as bytes along three axes, it is {images.dtype} along "
                f"{images.ndim}"
            )
    return list(parts.values())
