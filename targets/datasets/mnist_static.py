"""Statically binarised MNIST (Salakhutdinov and Murray 2008), as published by Larochelle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.fetch import fetch
from targets.datasets.files.places import data_root, file_content, found_or_fetched
from targets.datasets.variants import GreyImages, ImageForm, checked_dataset


def load_mnist_static(
    root: str | None, *, files: Mapping[str, Mapping[str, str]], **form: Unpack[ImageForm]
) -> Dataset:
    """The published zeros and ones in the published split.

    Args:
        root: folder of all data sets.
        files: of ``train``, ``validation`` and ``test``: ``path`` below `root`, ``url`` and ``sha256``.
        form: see `targets.datasets.variants.ImageForm`.

    Raises:
        DataError: if a file is missing and cannot be fetched, or damaged, or none of `variants`.
    """
    folder = data_root("mnist_static", root)
    place = {part: source["path"] for part, source in files.items()}

    def fetch_missing() -> None:
        missing = {
            source["path"]: source
            for source in files.values()
            if not (folder / f"{source['path']}.gz").is_file()
        }
        fetch(folder, missing)

    written = "784 zeros and ones a line, plain or .gz"
    there = found_or_fetched("mnist_static", folder, [place], written, fetch_missing)
    train, validation, test = (
        read_text_images(there[part], form["shape"]) for part in ("train", "validation", "test")
    )
    grey = GreyImages(str(there["train"].parent), train, validation, test, white=1)
    return checked_dataset("mnist_static", grey, form)


def read_text_images(path: Path, shape: Sequence[int]) -> NDArray[np.uint8]:
    """Images from a text file of zeros, ones and white space, uint8 ``(images, height, width)``.

    Raises:
        DataError: if the file is damaged, contains anything else, or ends within an image.
    """
    # For 78 MB of text, deleting white space and comparing bytes takes 0.1 s, parsing numbers a minute.
    values = np.frombuffer(file_content(path).translate(None, b" \t\r\n"), dtype=np.uint8) - np.uint8(
        ord("0")
    )
    if values.max(initial=0) > 1:
        raise DataError(f"'{path}' is not binary: it holds more than zeros, ones and blanks")
    height, width = shape
    if len(values) % (height * width):
        raise DataError(
            f"'{path}' is truncated: {len(values):,} values are not whole images of {height * width} pixels"
        )
    return values.reshape(-1, height, width)
