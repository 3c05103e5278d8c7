from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.io import savemat

from targets.datasets.caltech import load_caltech
from targets.datasets.dataset import DataError
from tests.support.refusal import refusal
from tests.support.small_images import (
    H,
    W,
    assert_no_wrong_byte_does_worse_than_a_refusal,
    grey,
    known,
    rows,
    write,
)

pytestmark = pytest.mark.usefixtures("no_network")
SPLIT1 = "Caltech101Silhouettes/split1.mat"


def silhouettes(root: Path, variants: list[dict[str, Any]], sha256: str | None = None) -> Any:
    published = hashlib.sha256((root / SPLIT1).read_bytes()).hexdigest() if sha256 is None else sha256
    file = {"path": SPLIT1, "url": "unused", "sha256": published}
    return load_caltech(str(root), binarisation="binary", file=file, shape=[H, W], variants=variants)


def saved(root: Path, *parts: NDArray[Any]) -> tuple[Path, str]:
    """The file with these arrays, and its SHA-256."""
    path = write(root / SPLIT1, b"")
    savemat(path, dict(zip(("train_data", "val_data", "test_data"), parts, strict=False)))
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


def columns(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Rows as in the published file: the figure 0, one column of pixels after another."""
    return np.array([[1 - image[r, c] for c in range(W) for r in range(H)] for image in images], np.uint8)


def test_silhouettes_are_upright_and_the_figure_is_one(tmp_path: Path) -> None:
    parts = grey(6, 1, 2), grey(3, 2, 2), grey(2, 3, 2)
    saved(tmp_path, *map(columns, parts))
    dataset = silhouettes(tmp_path, [known(6, 3, 2, parts[0].mean())])
    assert [part.tolist() for part in (dataset.train, dataset.validation, dataset.test)] == [
        *map(rows, parts)
    ]


def test_damaged_silhouettes_are_refused_by_name(tmp_path: Path) -> None:
    good = columns(grey(4, 1, 2))
    for parts, sentence in [
        ((good, good), "must hold test_data with 12 values a row, it is missing"),
        ((good[:, :5], good, good), "must hold train_data with 12 values a row, it has the shape (4, 5)"),
        ((good, good + 1, good), "caltech is not binary: val_data in"),
    ]:
        path, _ = saved(tmp_path, *parts)
        said = refusal(DataError, silhouettes, tmp_path, [])
        assert sentence in said
        assert f"'{path}'" in said


@pytest.mark.parametrize("cut", [0, 60, 140, 200, -30])
def test_a_truncated_matlab_file_is_refused_by_its_digest(cut: int, tmp_path: Path) -> None:
    """SciPy would crash on some of them, and take the process with it."""
    path, published = saved(tmp_path, *[columns(grey(40, 1, 2))] * 3)
    path.write_bytes(path.read_bytes()[:cut])
    assert refusal(DataError, silhouettes, tmp_path, [], published) == (
        f"'{path}' is damaged or another file: it has the SHA-256 "
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}, {published} is published"
    )


def test_a_matlab_file_with_any_wrong_byte_is_refused(tmp_path: Path) -> None:
    part = grey(6, 1, 2)
    path, published = saved(tmp_path, *[columns(part)] * 3)
    variants = [known(6, 6, 6, part.mean())]
    assert_no_wrong_byte_does_worse_than_a_refusal(path, lambda: silhouettes(tmp_path, variants, published))
