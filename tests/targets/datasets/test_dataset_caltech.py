from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.io import savemat

from targets.datasets import caltech
from targets.datasets.dataset import DataError
from tests.support.small_images import (
    H,
    W,
    assert_no_wrong_byte_does_worse_than_a_refusal,
    cut_network,
    grey,
    known,
)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_network(monkeypatch, "no network here")


SPLIT1 = "Caltech101Silhouettes/split1.mat"


def silhouettes(root: Path, variants: list[dict[str, Any]], sha256: str | None = None) -> Any:
    published = hashlib.sha256((root / SPLIT1).read_bytes()).hexdigest() if sha256 is None else sha256
    file = {"path": SPLIT1, "url": "unused", "sha256": published}
    return caltech.load_caltech(str(root), binarisation="binary", file=file, shape=[H, W], variants=variants)


def mat(root: Path, **parts: NDArray[Any]) -> Path:
    path = root / SPLIT1
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, parts)
    return path


def columns(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Rows as in the published file: the figure 0, one column of pixels after another."""
    return np.array([[1 - image[r, c] for c in range(W) for r in range(H)] for image in images], np.uint8)


def test_silhouettes_are_turned_upright_and_the_figure_is_one(tmp_path: Path) -> None:
    train, validation, test = grey(6, 1, 2), grey(3, 2, 2), grey(2, 3, 2)
    mat(tmp_path, train_data=columns(train), val_data=columns(validation), test_data=columns(test))
    dataset = silhouettes(tmp_path, [known(6, 3, 2, train.mean())])
    assert dataset.train.tolist() == train.reshape(6, -1).tolist()
    assert dataset.validation.tolist() == validation.reshape(3, -1).tolist()
    assert dataset.test.tolist() == test.reshape(2, -1).tolist()


def test_bent_silhouettes_are_refused_by_name(tmp_path: Path) -> None:
    good = columns(grey(4, 1, 2))
    for parts, sentence in [
        ({"train_data": good, "val_data": good}, "must hold test_data with 12 values a row, it is missing"),
        (
            {"train_data": good[:, :5], "val_data": good, "test_data": good},
            "must hold train_data with 12 values a row, it has the shape (4, 5)",
        ),
        ({"train_data": good, "val_data": good + 1, "test_data": good}, "caltech is not binary: val_data in"),
    ]:
        path = mat(tmp_path, **parts)
        with pytest.raises(DataError) as refusal:
            silhouettes(tmp_path, [])
        assert sentence in str(refusal.value)
        assert f"'{path}'" in str(refusal.value)


@pytest.mark.parametrize("cut", [0, 60, 140, 200, -30])
def test_a_cut_matlab_file_is_refused_by_name(cut: int, tmp_path: Path) -> None:
    """SciPy would crash on some of them, and take the process with it."""
    good = columns(grey(40, 1, 2))
    path = mat(tmp_path, train_data=good, val_data=good, test_data=good)
    published = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DataError) as refusal:
        silhouettes(tmp_path, [], published)
    assert str(refusal.value) == (
        f"'{path}' is damaged or another file: it has the SHA-256 "
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}, {published} is published"
    )


def test_a_matlab_file_with_any_wrong_byte_is_refused(tmp_path: Path) -> None:
    part = grey(6, 1, 2)
    path = mat(tmp_path, train_data=columns(part), val_data=columns(part), test_data=columns(part))
    published = hashlib.sha256(path.read_bytes()).hexdigest()
    variants = [known(6, 6, 6, part.mean())]
    assert_no_wrong_byte_does_worse_than_a_refusal(path, lambda: silhouettes(tmp_path, variants, published))
