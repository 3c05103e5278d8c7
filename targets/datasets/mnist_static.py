"""MNIST binarised once and for all (Salakhutdinov and Murray 2008), as Larochelle publishes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.fetch import fetch
from targets.datasets.files.places import content, data_root, found_or_fetched
from targets.datasets.variants import Grey, checked


def load(
    root: str | None,
    binarisation: str,
    *,
    files: Mapping[str, Mapping[str, str]],
    shape: Sequence[int],
    variants: Sequence[Mapping[str, Any]],
    threshold: float = 0.5,
    seed: int = 0,
) -> Dataset:
    """The published zeros and ones in the published split.

    Args:
        root: folder of all data sets.
        binarisation: ``binary``, or another, which changes nothing in what is binary.
        files: of ``train``, ``validation`` and ``test``: ``path`` below `root`, ``url`` and ``sha256``.
        shape: height and width of an image.
        variants: the forms that are known, see `targets.datasets.variants.Variant`.
        threshold: of the binarisation ``threshold``.
        seed: of the binarisations ``stochastic`` and ``dynamic``.

    Raises:
        DataError: if a file is missing and cannot be fetched, or damaged, or not one of `variants`.
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

    form = "784 zeros and ones a line, plain or .gz"
    there = found_or_fetched("mnist_static", folder, [place], form, fetch_missing)
    train, validation, test = (read_text(there[part], shape) for part in ("train", "validation", "test"))
    grey = Grey(str(there["train"].parent), train, validation, test, white=1)
    return checked("mnist_static", grey, shape, variants, binarisation, threshold, seed)


def read_text(path: Path, shape: Sequence[int]) -> NDArray[np.uint8]:
    """Images of a text of zeros and ones, blanks and line ends apart, uint8 ``(images, height, width)``.

    Raises:
        DataError: if the file is damaged, holds anything else, or breaks off within an image.
    """
    # 78 MB of text: dropping the blanks and looking at the bytes takes a tenth of a second, parsing a minute.
    values = np.frombuffer(content(path).translate(None, b" \t\r\n"), dtype=np.uint8) - np.uint8(ord("0"))
    if values.max(initial=0) > 1:
        raise DataError(f"'{path}' is not binary: it holds more than zeros, ones and blanks")
    height, width = shape
    if len(values) % (height * width):
        raise DataError(
            f"'{path}' is truncated: {len(values):,} values are not whole images of {height * width} pixels"
        )
    return values.reshape(-1, height, width)
