from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from targets.datasets.dataset import DataError
from targets.datasets.omniglot import load_omniglot
from tests.support.error_message import error_message
from tests.support.targets.small_images import (
    H,
    W,
    assert_no_wrong_byte_does_worse_than_a_refusal,
    black_and_white,
    grey,
    known,
    rows,
    write,
)

pytestmark = pytest.mark.usefixtures("no_network")
ORIGINALS = {"train": "omniglot-py/images_background.zip", "test": "omniglot-py/images_evaluation.zip"}
DERIVED = "OMNIGLOT/omniglot_28x28.npz"


def strokes(root: Path, variants: list[dict[str, Any]]) -> Any:
    form: Any = {"binarisation": "threshold", "shape": [H, W], "variants": variants}
    return load_omniglot(str(root), originals=ORIGINALS, derived=DERIVED, **form)


def test_derived_omniglot_has_bright_ink_and_tests_on_the_evaluation_set(tmp_path: Path) -> None:
    train, test = grey(6, 1), grey(5, 2)
    np.savez(write(tmp_path / DERIVED, b""), train_images=train, test_images=test, train_labels=np.arange(6))
    variants = [known(6, 0, 5, -1.0), known(6, 0, 5, train.mean() / 255, "derived")]
    dataset = strokes(tmp_path, variants)
    assert (dataset.name, dataset.note) == ("omniglot", "derived")
    assert dataset.train.tolist() == black_and_white(train)
    assert dataset.test.tolist() == black_and_white(test)


def test_original_omniglot_is_read_from_its_archives_and_preferred(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchvision.datasets import Omniglot

    names = ("images_background", "images_evaluation")
    rng = np.random.default_rng(0)
    paper = {}
    for part, path in ORIGINALS.items():
        paper[part] = rng.integers(0, 2, (4, H, W)).astype(np.uint8)
        with zipfile.ZipFile(write(tmp_path / path, b""), "w") as archive:
            for number, image in reversed(list(enumerate(paper[part]))):
                # Four times as large, one grey value a block: bilinear averages give back which were black.
                large = np.kron(255 * image, np.ones((4, 4), np.uint8)).astype(np.uint8)
                file = f"{Path(path).stem}/Alphabet/character{number // 2:02d}/{number:04d}.png"
                with archive.open(file, "w") as opened:
                    Image.fromarray(large).convert("1").save(opened, "png")
    digests = [hashlib.md5((tmp_path / path).read_bytes()).hexdigest() for path in ORIGINALS.values()]
    monkeypatch.setattr(Omniglot, "zips_md5", dict(zip(names, digests, strict=True)))
    ink = 1.0 - paper["train"].mean()
    variants = [known(4, 0, 4, ink) | {"tolerance": 0.2, "note": "original"}, known(4, 0, 4, -1.0)]
    dataset = strokes(tmp_path, variants)
    assert dataset.note == "original"
    assert dataset.train.tolist() == rows(1 - paper["train"])
    assert dataset.test.tolist() == rows(1 - paper["test"])


def test_damaged_omniglot_is_refused_by_name(tmp_path: Path) -> None:
    variants = [known(6, 0, 5, 0.0), known(6, 0, 5, 0.0)]
    path = write(tmp_path / DERIVED, b"")
    np.savez(path, train_images=grey(6))
    said = error_message(DataError, strokes, tmp_path, variants)
    assert "omniglot_28x28.npz' is damaged" in said
    assert "test_images" in said
    np.savez(path, train_images=grey(6) / 255, test_images=grey(5))
    said = error_message(DataError, strokes, tmp_path, variants)
    assert "must hold train_images as bytes along three axes, it is float64" in said
    path.write_bytes(path.read_bytes()[:-40])
    assert "omniglot_28x28.npz' is damaged" in error_message(DataError, strokes, tmp_path, variants)
    for archive in ORIGINALS.values():
        with zipfile.ZipFile(write(tmp_path / archive, b""), "w"):
            pass
    said = error_message(DataError, strokes, tmp_path, variants)
    assert (
        f"the archives in '{tmp_path / 'omniglot-py'}' are damaged: images_background.zip has another MD5"
        in said
    )


def test_a_derived_file_with_any_wrong_byte_is_read_or_refused(tmp_path: Path) -> None:
    part = grey(6)
    path = write(tmp_path / DERIVED, b"")
    np.savez(path, train_images=part, test_images=part)
    variants = [known(6, 0, 6, part.mean() / 255)] * 2
    assert_no_wrong_byte_does_worse_than_a_refusal(path, lambda: strokes(tmp_path, variants))
