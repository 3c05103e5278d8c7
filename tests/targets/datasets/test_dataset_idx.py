"""MNIST and its relatives from small files: idx, also binarised dynamically, and static texts."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files import idx
from targets.datasets.idx_images import load_idx_images
from targets.datasets.mnist_static import load_mnist_static, read_text_images
from tests.support.error_message import error_message
from tests.support.targets.real_sets import ROOT, real
from tests.support.targets.small_images import (
    H,
    W,
    assert_no_wrong_byte_does_worse_than_a_refusal,
    black_and_white,
    grey,
    known,
    published_draw,
    rows,
    write,
)

pytestmark = pytest.mark.usefixtures("no_network")
FILES = {"train": "MNIST/raw/train-images-idx3-ubyte", "test": "MNIST/raw/t10k-images-idx3-ubyte"}
PLACES = [FILES, {part: f"subset/{path}" for part, path in FILES.items()}]


def idx_bytes(images: NDArray[np.uint8]) -> bytes:
    return b"\x00\x00\x08\x03" + struct.pack(">III", *images.shape) + images.tobytes()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_idx_gives_back_every_pixel_plain_or_gzipped(pack: Any, tmp_path: Path) -> None:
    images = grey(7)
    path = write(tmp_path / "images-idx3-ubyte", pack(idx_bytes(images)))
    assert np.array_equal(idx.read_images(path), images)


NEEDED = "7 x 3 x 4 pixels and a header need 100 bytes, it has"


@pytest.mark.parametrize(
    ("damaged", "sentence"),
    [
        (lambda data: data[:10], "is truncated: 10 bytes are not even the header of an idx file"),
        (lambda data: data[:-1], f"is truncated: {NEEDED} 99"),
        (lambda data: data + b"\0", f"is damaged: {NEEDED} 101"),
        (lambda data: b"\0\0\x08\x01" + data[4:], "its magic number is 0x00000801 instead of 0x00000803"),
        (lambda data: gzip.compress(data)[:-20], "is damaged or cannot be read"),
        (lambda data: gzip.compress(data)[:30] + b"x" * 20, "is damaged or cannot be read"),
        (lambda data: b"", "is truncated: 0 bytes"),
    ],
)
def test_a_damaged_idx_file_is_refused_by_name(damaged: Any, sentence: str, tmp_path: Path) -> None:
    path = write(tmp_path / "images-idx3-ubyte.gz", damaged(idx_bytes(grey(7))))
    said = error_message(DataError, idx.read_images, path)
    assert f"'{path}'" in said
    assert sentence in said


def mnist(root: Path, variants: list[dict[str, Any]], **options: Any) -> Dataset:
    form: Any = {"binarisation": "threshold", "shape": [H, W], "torchvision": "MNIST"} | options
    return load_idx_images(str(root), places=PLACES, variants=variants, **form)


def dynamic(root: Path, variants: list[dict[str, Any]], **options: Any) -> Dataset:
    form = {"binarisation": "dynamic", "known_as": "mnist_dynamic", "seed": 777, "validation": 3}
    return mnist(root, variants, **(form | options))


def lay(
    root: Path, train: NDArray[np.uint8], test: NDArray[np.uint8], place: int = 0, suffix: str = ""
) -> None:
    for part, images in (("train", train), ("test", test)):
        data = idx_bytes(images)
        write(root / f"{PLACES[place][part]}{suffix}", gzip.compress(data) if suffix else data)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("transposed", [False, True])
def test_a_set_of_idx_files_is_read_and_binarised(suffix: str, transposed: bool, tmp_path: Path) -> None:
    train, test = grey(6, 1), grey(5, 2)
    turn = (0, 2, 1) if transposed else (0, 1, 2)
    lay(tmp_path, train.transpose(turn), test.transpose(turn), suffix=suffix)
    dataset = mnist(tmp_path, [known(6, 0, 5, train.mean() / 255)], transposed=transposed)
    assert (dataset.name, dataset.shape, dataset.note) == ("mnist", (H, W), None)
    assert dataset.train.tolist() == black_and_white(train)
    assert dataset.test.tolist() == black_and_white(test)
    assert dataset.validation.shape == (0, H * W)


def test_the_first_complete_place_is_read_and_its_counts_give_the_note(tmp_path: Path) -> None:
    whole, part = grey(6, 1), grey(4, 2)
    variants = [known(6, 0, 3, whole.mean() / 255), known(4, 0, 2, part.mean() / 255, "subset: a few")]
    lay(tmp_path, part, grey(2, 4), place=1)
    # Half of the first place, as where only the official test images could be had.
    write(tmp_path / PLACES[0]["test"], idx_bytes(grey(3, 3)))
    dataset = mnist(tmp_path, variants)
    assert (len(dataset.train), len(dataset.test), dataset.note) == (4, 2, "subset: a few")
    lay(tmp_path, whole, grey(3, 3))
    dataset = mnist(tmp_path, variants)
    assert (len(dataset.train), len(dataset.test), dataset.note) == (6, 3, None)


def test_a_missing_set_is_refused_with_the_files_to_get(tmp_path: Path) -> None:
    assert error_message(DataError, mnist, tmp_path, []) == (
        "mnist is missing and could not be downloaded (no network here): put "
        f"{FILES['train']} and {FILES['test']} (idx files, plain or .gz) into '{tmp_path}'"
    )
    assert list(tmp_path.iterdir()) == []


def test_wrong_counts_shape_mean_or_arguments_are_refused(tmp_path: Path) -> None:
    train, test = grey(6), grey(5)
    lay(tmp_path, train, test)
    mean, folder = train.mean() / 255, tmp_path / "MNIST/raw"
    right = [known(6, 0, 5, mean)]
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (
            [known(7, 0, 5, mean), known(2, 0, 1, mean)],
            {},
            "mnist has 7 + 0 + 5 or 2 + 0 + 1 training, validation and test images, "
            f"'{folder}' holds 6 + 0 + 5",
        ),
        (
            right,
            {"shape": [W, H]},
            f"mnist has images of 4 x 3 pixels, the training images in '{folder}' have 3 x 4",
        ),
        (
            [known(6, 0, 5, mean + 0.01)],
            {},
            f"the training pixels of mnist have the mean {mean + 0.01:g} (+- 1e-06), "
            f"those in '{folder}' have {mean:.4f}",
        ),
        (
            right,
            {"binarisation": "binary"},
            "mnist is not binary: its training images hold grey values, so binarisation must be "
            "threshold, stochastic or dynamic, 'binary' was given",
        ),
        (
            right,
            {"torchvision": "CIFAR10"},
            "torchvision must be one of EMNIST, FashionMNIST, KMNIST, MNIST, 'CIFAR10' was given",
        ),
        (right, {"validation": -1}, "validation must be a whole number of at least 0, -1 was given"),
    ]
    for variants, options, sentence in cases:
        assert error_message(DataError, mnist, tmp_path, variants, **options) == sentence
    for validation, counts in ((2, "4 + 2 + 5"), (9, "0 + 6 + 5")):
        assert error_message(DataError, mnist, tmp_path, right, validation=validation).endswith(
            f"holds {counts}"
        )


def test_a_gzipped_idx_file_with_any_wrong_byte_is_read_or_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "images-idx3-ubyte.gz", gzip.compress(idx_bytes(grey(6))))
    assert_no_wrong_byte_does_worse_than_a_refusal(path, lambda: idx.read_images(path))


def test_dynamic_training_stays_grey_and_the_rest_is_drawn_as_in_the_papers_code(tmp_path: Path) -> None:
    train, test = grey(8, 1), grey(6, 2)
    lay(tmp_path, train, test)
    variants = [known(5, 3, 6, train[:5].mean() / 255)]
    dataset = dynamic(tmp_path, variants)
    validation, held_out = published_draw(train[5:], test)
    assert (dataset.name, dataset.white) == ("mnist_dynamic", 255)
    assert torch.equal(dataset.validation, validation)
    assert torch.equal(dataset.test, held_out)
    assert dataset.grey is not None
    assert dataset.grey.dtype == torch.uint8
    assert dataset.grey.tolist() == rows(train[:5])
    assert torch.equal(dynamic(tmp_path, variants).train, dataset.train)
    assert not torch.equal(dynamic(tmp_path, variants, seed=778).test, dataset.test)
    # Another binarisation makes a static set of the same split.
    static = dynamic(tmp_path, variants, binarisation="threshold")
    assert static.grey is None
    for part, images in ((static.train, train[:5]), (static.validation, train[5:]), (static.test, test)):
        assert part.tolist() == black_and_white(images)


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
    said = error_message(DataError, read_text_images, path, [H, W])
    assert f"'{path}'" in said
    assert sentence in said


@pytest.mark.data
def test_real_dynamic_mnist_has_the_split_and_draw_of_the_paper(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dataset, whole = real("mnist_dynamic", monkeypatch), real("mnist", monkeypatch)
    assert [len(part) for part in (dataset.train, dataset.validation, dataset.test)] == [50000, 10000, 10000]
    assert dataset.note is None
    assert dataset.grey is not None
    assert dataset.mean().mean().item() == pytest.approx(0.1310, abs=1e-4)
    # Thresholded, the grey values are the images of the static set, and a draw has their brightness:
    # 39 million independent draws, whose mean has a standard deviation below 6e-5.
    assert torch.equal((dataset.grey > 127).to(torch.uint8), whole.train[:50000])
    assert dataset.train.double().mean().item() == pytest.approx(dataset.mean().mean().item(), abs=3e-4)
    files = [next(Path(str(ROOT)).glob(f"MNIST/raw/{part}-images-idx3-ubyte*")) for part in ("train", "t10k")]
    drawn = published_draw(idx.read_images(files[0])[50000:], idx.read_images(files[1]))
    assert all(map(torch.equal, (dataset.validation, dataset.test), drawn))
