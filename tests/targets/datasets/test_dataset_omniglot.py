from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from targets.datasets import omniglot
from targets.datasets.dataset import DataError
from tests.support.small_images import (
    H,
    W,
    assert_no_wrong_byte_does_worse_than_a_refusal,
    cut_network,
    grey,
    known,
    write,
)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_network(monkeypatch, "no network here")


ORIGINALS = {"train": "omniglot-py/images_background.zip", "test": "omniglot-py/images_evaluation.zip"}
DERIVED = "OMNIGLOT/omniglot_28x28.npz"


def strokes(root: Path, variants: list[dict[str, Any]], shape: tuple[int, int] = (H, W)) -> Any:
    return omniglot.load_omniglot(
        str(root),
        binarisation="threshold",
        originals=ORIGINALS,
        derived=DERIVED,
        shape=list(shape),
        variants=variants,
    )


def test_derived_omniglot_has_bright_ink_and_tests_on_the_evaluation_set(tmp_path: Path) -> None:
    train, test = grey(6, 1), grey(5, 2)
    (tmp_path / "OMNIGLOT").mkdir()
    np.savez(tmp_path / DERIVED, train_images=train, test_images=test, train_labels=np.arange(6))
    variants = [known(6, 0, 5, -1.0), known(6, 0, 5, train.mean() / 255, "derived")]
    dataset = strokes(tmp_path, variants)
    assert (dataset.name, dataset.note) == ("omniglot", "derived")
    assert dataset.train.tolist() == [[int(x > 127.5) for x in image.flatten()] for image in train]
    assert dataset.test.tolist() == [[int(x > 127.5) for x in image.flatten()] for image in test]


def test_original_omniglot_is_read_through_torchvision_and_preferred(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchvision.datasets import Omniglot

    monkeypatch.setattr(Omniglot, "_check_integrity", lambda self: True)
    rng = np.random.default_rng(0)
    paper = {}
    for part, path in ORIGINALS.items():
        write(tmp_path / path, b"")
        paper[part] = rng.integers(0, 2, (4, H, W)).astype(np.uint8)
        for number, image in enumerate(paper[part]):
            character = tmp_path / path.removesuffix(".zip") / "Alphabet" / f"character{number // 2:02d}"
            character.mkdir(parents=True, exist_ok=True)
            # Four times as large, one grey value a block: bilinear averages give back which were black.
            large = np.kron(255 * image, np.ones((4, 4), np.uint8)).astype(np.uint8)
            Image.fromarray(large).convert("1").save(character / f"{number:04d}.png")
    ink = 1.0 - paper["train"].mean()
    variants = [known(4, 0, 4, ink) | {"tolerance": 0.2, "note": "original"}, known(4, 0, 4, -1.0)]
    dataset = strokes(tmp_path, variants)
    assert dataset.note == "original"
    assert dataset.train.tolist() == (1 - paper["train"]).reshape(4, -1).tolist()
    assert dataset.test.tolist() == (1 - paper["test"]).reshape(4, -1).tolist()


def test_bent_omniglot_is_refused_by_name(tmp_path: Path) -> None:
    variants = [known(6, 0, 5, 0.0), known(6, 0, 5, 0.0)]
    path = tmp_path / DERIVED
    path.parent.mkdir()
    np.savez(path, train_images=grey(6))
    with pytest.raises(DataError, match=r"omniglot_28x28.npz' is damaged.*test_images"):
        strokes(tmp_path, variants)
    np.savez(path, train_images=grey(6) / 255, test_images=grey(5))
    with pytest.raises(DataError, match="must hold train_images as bytes along three axes, it is float64"):
        strokes(tmp_path, variants)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"omniglot_28x28.npz' is damaged"):
        strokes(tmp_path, variants)
    for archive in ORIGINALS.values():
        with zipfile.ZipFile(write(tmp_path / archive, b""), "w"):
            pass
    with pytest.raises(DataError, match=r"the archives in '.*omniglot-py' are damaged or not unpacked"):
        strokes(tmp_path, variants)


def test_a_derived_file_with_any_wrong_byte_is_read_or_refused(tmp_path: Path) -> None:
    part = grey(6)
    path = tmp_path / DERIVED
    path.parent.mkdir()
    np.savez(path, train_images=part, test_images=part)
    variants = [known(6, 0, 6, part.mean() / 255)] * 2
    assert_no_wrong_byte_does_worse_than_a_refusal(path, lambda: strokes(tmp_path, variants))
