"""Small images for tests of data sets, and what a damaged file of them may lead to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from targets.datasets.dataset import DataError
from targets.datasets.files import fetch

H, W = 3, 4


def grey(images: int, seed: int = 0, high: int = 256) -> NDArray[np.uint8]:
    """Random images of H x W pixels with values below `high`."""
    return np.random.default_rng(seed).integers(0, high, (images, H, W)).astype(np.uint8)


def rows(images: NDArray[Any]) -> list[list[int]]:
    """The pixels of each image, row by row."""
    return images.reshape(len(images), -1).tolist()


def black_and_white(images: NDArray[np.uint8]) -> list[list[int]]:
    """The pixels of each image after the threshold 1/2."""
    return rows((images > 127).astype(int))


def published_draw(*parts: NDArray[np.uint8], seed: int = 777) -> list[Tensor]:
    """What the papers' code draws with NumPy's global generator: seed it, then draw each part in turn."""
    generator = np.random.RandomState(seed)
    draws = [generator.binomial(1, part.reshape(len(part), -1).astype("float32") / 255.0) for part in parts]
    return [torch.from_numpy(draw).to(torch.uint8) for draw in draws]


def known(
    train: int, validation: int, test: int, mean: float | None, note: str | None = None
) -> dict[str, Any]:
    """A variant as conf/dataset states one; `mean` None where it is unknown."""
    counts = {"train": train, "validation": validation, "test": test}
    return {**counts, "mean": mean, "tolerance": None if mean is None else 1e-6, "note": note}


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
