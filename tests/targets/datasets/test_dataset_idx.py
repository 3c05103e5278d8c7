from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from targets.datasets import idx_images
from targets.datasets.dataset import DataError
from targets.datasets.files import idx
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


def idx_bytes(images: NDArray[np.uint8]) -> bytes:
    return b"\x00\x00\x08\x03" + struct.pack(">III", *images.shape) + images.tobytes()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_idx_gives_back_every_pixel_plain_or_gzipped(pack: Any, tmp_path: Path) -> None:
    images = grey(7)
    path = write(tmp_path / "images-idx3-ubyte", pack(idx_bytes(images)))
    assert np.array_equal(idx.read_images(path), images)


@pytest.mark.parametrize(
    ("bent", "sentence"),
    [
        (lambda data: data[:10], "is truncated: 10 bytes are not even the header of an idx file"),
        (lambda data: data[:-1], "is truncated: 7 x 3 x 4 pixels and a header need 100 bytes, it has 99"),
        (lambda data: data + b"\0", "is damaged: 7 x 3 x 4 pixels and a header need 100 bytes, it has 101"),
        (lambda data: b"\0\0\x08\x01" + data[4:], "its magic number is 0x00000801 instead of 0x00000803"),
        (lambda data: gzip.compress(data)[:-20], "is damaged or cannot be read"),
        (lambda data: gzip.compress(data)[:30] + b"x" * 20, "is damaged or cannot be read"),
        (lambda data: b"", "is truncated: 0 bytes"),
    ],
)
def test_a_bent_idx_file_is_refused_by_name(bent: Any, sentence: str, tmp_path: Path) -> None:
    path = write(tmp_path / "images-idx3-ubyte.gz", bent(idx_bytes(grey(7))))
    with pytest.raises(DataError) as refusal:
        idx.read_images(path)
    assert f"'{path}'" in str(refusal.value)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


PLACES = [
    {"train": "MNIST/raw/train-images-idx3-ubyte", "test": "MNIST/raw/t10k-images-idx3-ubyte"},
    {"train": "subset/MNIST/raw/train-images-idx3-ubyte", "test": "subset/MNIST/raw/t10k-images-idx3-ubyte"},
]


def mnist(root: Path, variants: list[dict[str, Any]], **options: Any) -> Any:
    return idx_images.load_idx_images(
        str(root),
        binarisation=options.pop("binarisation", "threshold"),
        torchvision="MNIST",
        places=PLACES,
        shape=options.pop("shape", [H, W]),
        variants=variants,
        **options,
    )


def lay(root: Path, place: int, train: NDArray[np.uint8], test: NDArray[np.uint8], suffix: str = "") -> None:
    for part, images in (("train", train), ("test", test)):
        data = idx_bytes(images)
        write(root / f"{PLACES[place][part]}{suffix}", gzip.compress(data) if suffix else data)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("transposed", [False, True])
def test_a_set_of_idx_files_is_read_split_and_binarised(
    suffix: str, transposed: bool, tmp_path: Path
) -> None:
    train, test = grey(6, 1), grey(5, 2)
    turn = (0, 2, 1) if transposed else (0, 1, 2)
    lay(tmp_path, 0, train.transpose(turn), test.transpose(turn), suffix)
    dataset = mnist(tmp_path, [known(6, 0, 5, train.mean() / 255)], transposed=transposed)
    assert (dataset.name, dataset.shape, dataset.note) == ("mnist", (H, W), None)
    assert dataset.train.tolist() == [[int(x > 127.5) for x in image.flatten()] for image in train]
    assert dataset.test.tolist() == [[int(x > 127.5) for x in image.flatten()] for image in test]
    assert dataset.validation.shape == (0, H * W)


def test_the_first_complete_place_is_read_and_the_counts_tell_what_it_is(tmp_path: Path) -> None:
    whole, part = grey(6, 1), grey(4, 2)
    variants = [known(6, 0, 3, whole.mean() / 255), known(4, 0, 2, part.mean() / 255, "subset: a few")]
    lay(tmp_path, 1, part, grey(2, 4))
    # Half of the first place, as where only the official test images could be had.
    write(tmp_path / PLACES[0]["test"], idx_bytes(grey(3, 3)))
    dataset = mnist(tmp_path, variants)
    assert (len(dataset.train), len(dataset.test), dataset.note) == (4, 2, "subset: a few")
    lay(tmp_path, 0, whole, grey(3, 3))
    dataset = mnist(tmp_path, variants)
    assert (len(dataset.train), len(dataset.test), dataset.note) == (6, 3, None)


def test_a_set_that_is_not_there_is_refused_with_what_to_put_where(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refusal:
        mnist(tmp_path, [])
    assert str(refusal.value) == (
        "mnist is missing and could not be downloaded (no network here): put "
        "MNIST/raw/train-images-idx3-ubyte and MNIST/raw/t10k-images-idx3-ubyte "
        f"(idx files, plain or .gz) into '{tmp_path}'"
    )
    assert list(tmp_path.iterdir()) == []


def test_counts_shape_and_mean_are_those_of_a_known_set_or_refused(tmp_path: Path) -> None:
    train, test = grey(6), grey(5)
    lay(tmp_path, 0, train, test)
    mean = train.mean() / 255
    folder = tmp_path / "MNIST/raw"
    for variants, options, sentence in [
        (
            [known(7, 0, 5, mean), known(2, 0, 1, mean)],
            {},
            "mnist has 7 + 0 + 5 or 2 + 0 + 1 training, validation and test images, "
            f"'{folder}' holds 6 + 0 + 5",
        ),
        (
            [known(6, 0, 5, mean)],
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
            [known(6, 0, 5, mean)],
            {"binarisation": "binary"},
            "mnist is not binary: its training images hold grey values, so binarisation must be "
            "threshold, stochastic or dynamic, 'binary' was given",
        ),
    ]:
        with pytest.raises(DataError) as refusal:
            mnist(tmp_path, variants, **options)
        assert str(refusal.value) == sentence


def test_only_sets_of_torchvision_that_are_idx_files_are_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"torchvision must be one of MNIST, KMNIST, .*, 'CIFAR10' was given"):
        idx_images.load_idx_images(
            str(tmp_path),
            binarisation="threshold",
            torchvision="CIFAR10",
            places=PLACES,
            shape=[H, W],
            variants=[],
        )


def test_a_gzipped_idx_file_with_any_wrong_byte_is_read_or_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "images-idx3-ubyte.gz", gzip.compress(idx_bytes(grey(6))))
    assert_no_wrong_byte_does_worse_than_a_refusal(path, lambda: idx.read_images(path))
