from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from targets.datasets.dataset import DataError
from targets.datasets.mnist_static import load_mnist_static, read_text
from tests.support.refusal import refusal
from tests.support.small_images import H, W, grey, known, rows, write

pytestmark = pytest.mark.usefixtures("no_network")
PARTS = ("train", "validation", "test")
NOT_BINARY = "is not binary: it holds more than zeros, ones and blanks"


def text(images: NDArray[np.uint8]) -> bytes:
    return "".join(" ".join(map(str, image.flatten())) + "\n" for image in images).encode()


def test_static_mnist_is_read_from_its_texts(tmp_path: Path) -> None:
    images = {"train": grey(6, 1, 2), "validation": grey(3, 2, 2), "test": grey(2, 3, 2)}
    for part in PARTS:
        zipped = part != "validation"
        data = gzip.compress(text(images[part])) if zipped else text(images[part])
        write(tmp_path / f"MNIST_static/{part}.amat{'.gz' if zipped else ''}", data)
    files = {part: {"path": f"MNIST_static/{part}.amat", "url": "unused", "sha256": ""} for part in PARTS}
    form: Any = {"shape": [H, W], "variants": [known(6, 3, 2, images["train"].mean())]}
    dataset = load_mnist_static(str(tmp_path), files=files, binarisation="binary", **form)
    for part in PARTS:
        assert getattr(dataset, part).tolist() == rows(images[part])


@pytest.mark.parametrize(
    ("damaged", "sentence"),
    [
        (lambda data: data[:-4], "is truncated: 70 values are not whole images of 12 pixels"),
        (lambda data: data.replace(b"1", b"2", 1), NOT_BINARY),
        (lambda data: data.replace(b"0 ", b"0.", 1), NOT_BINARY),
        (lambda data: b"MATLAB 5.0 MAT-file" + data, NOT_BINARY),
        (lambda data: gzip.compress(data)[:-9], "is damaged or cannot be read"),
    ],
)
def test_a_damaged_text_is_refused_by_name(damaged: Any, sentence: str, tmp_path: Path) -> None:
    path = write(tmp_path / "train.amat", damaged(text(grey(6, 1, 2))))
    said = refusal(DataError, read_text, path, [H, W])
    assert f"'{path}'" in said
    assert sentence in said
