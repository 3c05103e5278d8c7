"""Small images for tests of data sets, and what a damaged file of them may lead to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from targets.datasets.dataset import DataError
from targets.datasets.files import fetch

H, W = 3, 4


def grey(images: int, seed: int = 0, high: int = 256) -> NDArray[np.uint8]:
    """Random images of H x W pixels with values below `high`."""
    return np.random.default_rng(seed).integers(0, high, (images, H, W)).astype(np.uint8)


def known(train: int, validation: int, test: int, mean: float, note: str | None = None) -> dict[str, Any]:
    """A variant as conf/dataset states one."""
    return {
        "train": train,
        "validation": validation,
        "test": test,
        "mean": mean,
        "tolerance": 1e-6,
        "note": note,
    }


def write(path: Path, data: bytes) -> Path:
    """Puts `data` at `path`, with the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def cut_network(monkeypatch: pytest.MonkeyPatch, reason: str) -> None:
    """Lets every download fail with `reason` before it begins."""

    def refuse(root: Path) -> None:
        raise DataError(reason)

    monkeypatch.setattr(fetch, "temporary_folder", refuse)


def assert_no_wrong_byte_does_worse_than_a_refusal(path: Path, read: Callable[[], object]) -> None:
    """With any byte of the file wrong, `read` gives something or raises a `DataError` of one line."""
    rng = np.random.default_rng(0)
    whole = path.read_bytes()
    sentences = []
    for _ in range(150):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            read()
        except DataError as error:
            sentences.append(str(error))
    assert len(sentences) > 15
    assert not any("\n" in sentence for sentence in sentences)
    path.write_bytes(whole)
    read()
