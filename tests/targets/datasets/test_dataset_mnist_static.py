from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from targets.datasets import mnist_static
from targets.datasets.dataset import DataError
from tests.support.small_images import H, W, cut_network, grey, known, write


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_network(monkeypatch, "no network here")


def text(images: NDArray[np.uint8]) -> bytes:
    return "".join(" ".join(map(str, image.flatten())) + "\n" for image in images).encode()


def static(root: Path, variants: list[dict[str, Any]]) -> Any:
    files = {
        part: {"path": f"MNIST_static/{part}.amat", "url": "unused", "sha256": "unused"}
        for part in ("train", "validation", "test")
    }
    form = {"binarisation": "binary", "shape": [H, W], "variants": variants}
    return mnist_static.load_mnist_static(str(root), files=files, **form)


def test_static_mnist_is_read_from_its_texts(tmp_path: Path) -> None:
    parts = {"train": grey(6, 1, 2), "validation": grey(3, 2, 2), "test": grey(2, 3, 2)}
    for part, images in parts.items():
        zipped = part != "validation"
        data = gzip.compress(text(images)) if zipped else text(images)
        write(tmp_path / f"MNIST_static/{part}.amat{'.gz' if zipped else ''}", data)
    dataset = static(tmp_path, [known(6, 3, 2, parts["train"].mean())])
    assert dataset.train.tolist() == parts["train"].reshape(6, -1).tolist()
    assert dataset.validation.tolist() == parts["validation"].reshape(3, -1).tolist()
    assert dataset.test.tolist() == parts["test"].reshape(2, -1).tolist()


@pytest.mark.parametrize(
    ("bent", "sentence"),
    [
        (lambda data: data[:-4], "is truncated: 70 values are not whole images of 12 pixels"),
        (
            lambda data: data.replace(b"1", b"2", 1),
            "is not binary: it holds more than zeros, ones and blanks",
        ),
        (
            lambda data: data.replace(b"0 ", b"0.", 1),
            "is not binary: it holds more than zeros, ones and blanks",
        ),
        (lambda data: b"MATLAB 5.0 MAT-file" + data, "is not binary: it holds more than zeros"),
        (lambda data: gzip.compress(data)[:-9], "is damaged or cannot be read"),
    ],
)
def test_a_bent_text_is_refused_by_name(bent: Any, sentence: str, tmp_path: Path) -> None:
    path = write(tmp_path / "train.amat", bent(text(grey(6, 1, 2))))
    with pytest.raises(DataError) as refusal:
        mnist_static.read_text(path, [H, W])
    assert f"'{path}'" in str(refusal.value)
    assert sentence in str(refusal.value)
