"""Dynamic sets: grey training images beside one draw of them, held-out images drawn once as the peers do."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from numpy.typing import NDArray

import conf
from targets.datasets import digits, idx_images, npz
from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.idx import read_images
from tests.support.small_images import H, W, cut_network, grey, known, write
from tests.targets.datasets.test_dataset_idx import PLACES, idx_bytes
from tests.targets.datasets.test_datasets import ROOT, real

Peers = tuple[NDArray[Any], NDArray[Any]]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_network(monkeypatch, "no network here")


def as_the_peers_draw(validation: NDArray[np.uint8], test: NDArray[np.uint8], seed: int) -> Peers:
    """What their code does with NumPy's global generator: seed it, then draw both, in this order."""
    state = np.random.get_state()
    try:
        np.random.seed(seed)
        return tuple(  # type: ignore[return-value]
            np.random.binomial(1, part.reshape(len(part), -1).astype("float32") / 255.0)
            for part in (validation, test)
        )
    finally:
        np.random.set_state(state)


def laid(root: Path, train: NDArray[np.uint8], test: NDArray[np.uint8]) -> None:
    write(root / PLACES[0]["train"], idx_bytes(train))
    write(root / PLACES[0]["test"], idx_bytes(test))


def mnist(root: Path, variants: list[dict[str, Any]], **options: Any) -> Dataset:
    return idx_images.load_idx_images(
        str(root),
        binarisation=options.pop("binarisation", "dynamic"),
        torchvision="MNIST",
        known_as="mnist_dynamic",
        places=PLACES,
        shape=[H, W],
        variants=variants,
        **{"seed": 777, "validation": 3} | options,
    )


def test_the_last_training_images_are_held_out_and_drawn_once_as_the_peers_do(tmp_path: Path) -> None:
    train, test = grey(8, 1), grey(6, 2)
    laid(tmp_path, train, test)
    variants = [known(5, 3, 6, train[:5].mean() / 255)]
    dataset = mnist(tmp_path, variants)
    validation, held_out = as_the_peers_draw(train[5:], test, 777)
    assert dataset.name == "mnist_dynamic"
    assert dataset.validation.tolist() == validation.tolist()
    assert dataset.test.tolist() == held_out.tolist()
    assert dataset.white == 255
    assert dataset.grey is not None
    assert dataset.grey.dtype == torch.uint8
    assert dataset.grey.tolist() == train[:5].reshape(5, -1).tolist()
    assert torch.equal(mnist(tmp_path, variants).train, dataset.train)
    assert not torch.equal(mnist(tmp_path, variants, seed=778).test, dataset.test)


def test_more_images_than_are_drawn_at_one_time_are_one_draw() -> None:
    from targets.datasets.binarise import BLOCK, binariser

    validation, test = grey(BLOCK + 7, 3), grey(5, 4)
    binarise = binariser("mine", "dynamic", 0.5, 777)
    binarise(grey(9), 255, "training")
    found = [binarise(part, 255, name) for part, name in ((validation, "validation"), (test, "test"))]
    for drawn, wanted in zip(found, as_the_peers_draw(validation, test, 777), strict=True):
        assert torch.equal(drawn, torch.from_numpy(wanted).to(torch.uint8))


def test_another_binarisation_makes_a_static_set_of_the_same_split(tmp_path: Path) -> None:
    train, test = grey(8, 1), grey(6, 2)
    laid(tmp_path, train, test)
    dataset = mnist(tmp_path, [known(5, 3, 6, train[:5].mean() / 255)], binarisation="threshold")
    assert dataset.grey is None
    parts = (dataset.train, dataset.validation, dataset.test)
    for part, images in zip(parts, (train[:5], train[5:], test), strict=True):
        assert part.tolist() == [[int(x > 127.5) for x in image.flatten()] for image in images]


def test_the_mean_of_a_dynamic_set_is_that_of_its_grey_values() -> None:
    images = torch.tensor([[0, 5], [16, 10]], dtype=torch.uint8)
    nothing = torch.zeros((2, 2), dtype=torch.uint8)
    dataset = Dataset("mine", nothing, nothing, nothing, (1, 2), grey=images, white=16)
    assert dataset.mean().tolist() == [0.5, 15 / 32]
    assert dataset.mean().dtype == torch.float64
    assert dataclasses.replace(dataset, grey=None).mean().tolist() == [0.0, 0.0]
    # Sums go beyond a byte.
    many = torch.full((1000, 2), 16, dtype=torch.uint8)
    assert Dataset("mine", many, many, many, (1, 2), grey=many, white=16).mean().tolist() == [1.0, 1.0]


def test_a_fingerprint_is_what_it_was_and_covers_grey_values_where_they_are() -> None:
    one, two = (torch.tensor(rows, dtype=torch.uint8) for rows in ([[0, 1], [1, 1]], [[1, 0]]))
    static = Dataset("mine", one, two, two, (1, 2))
    content = b"(2, 2)" + bytes([0, 1, 1, 1]) + 2 * (b"(1, 2)" + bytes([1, 0]))
    assert static.fingerprint() == hashlib.sha256(content).hexdigest()[:16]
    # As models that were kept before there were dynamic sets have it.
    assert dataclasses.replace(static, white=7).fingerprint() == static.fingerprint()
    dynamic = [
        dataclasses.replace(static, grey=values, white=white)
        for values, white in ((one, 255), (one, 16), (1 - one, 16), (one.reshape(1, 4), 16))
    ]
    assert len({static.fingerprint(), *(dataset.fingerprint() for dataset in dynamic)}) == 5


def test_the_digits_can_be_dynamic_too() -> None:
    spec = yaml.safe_load((Path(conf.__path__[0]) / "dataset" / "digits.yaml").read_text())
    options = {"shape": spec["shape"], "variants": spec["variants"]}
    static, dynamic = (
        digits.load_digit_images(None, binarisation=way, **options) for way in ("stochastic", "dynamic")
    )
    assert static.grey is None
    assert dynamic.grey is not None
    assert dynamic.white == 16
    assert torch.equal(dynamic.train, static.train)
    assert dynamic.mean().mean().item() == pytest.approx(0.3057, abs=1e-4)
    # Black is never drawn 1 and white never 0.
    assert not dynamic.train[dynamic.grey == 0].any()
    assert dynamic.train[dynamic.grey == 16].all()


@pytest.mark.parametrize("way", ["bytes", "fractions", "floats of bytes"])
def test_own_grey_images_are_fractions_or_bytes(way: str, tmp_path: Path) -> None:
    train, validation, test = grey(6, 1), grey(4, 2), grey(5, 3)
    scale: Any = {"bytes": np.uint8(1), "fractions": np.float32(1 / 255), "floats of bytes": np.float64(1)}[
        way
    ]
    path = tmp_path / "mine.npz"
    np.savez(path, train=train * scale, validation=validation * scale, test=test * scale)
    dataset = npz.load_npz(None, "dynamic", path=str(path), seed=777)
    assert dataset.grey is not None
    assert dataset.grey.tolist() == train.reshape(6, -1).tolist()
    assert (dataset.white, dataset.note, dataset.shape) == (255, None, (H, W))
    for found, wanted in zip(
        (dataset.validation, dataset.test), as_the_peers_draw(validation, test, 777), strict=True
    ):
        assert found.tolist() == wanted.tolist()
    static = npz.load_npz(None, "threshold", path=str(path))
    assert static.grey is None
    assert static.test.tolist() == [[int(x > 127.5) for x in image.flatten()] for image in test]


def test_what_an_own_file_is_called_changes_no_image(tmp_path: Path) -> None:
    """As its content, not its name, enters the identity of a model."""
    drawn = []
    for name in ("one.npz", "two.npz"):
        np.savez(tmp_path / name, train=grey(6, 1), test=grey(5, 3))
        drawn.append(npz.load_npz(None, "stochastic", path=str(tmp_path / name)))
    assert drawn[0].fingerprint() == drawn[1].fingerprint()


def test_own_fractions_that_are_no_bytes_are_rounded_and_say_so(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, train=np.array([[0.5, 0.25, 1, 0]]), test=np.array([[0, 1, 0, 1]]))
    dataset = npz.load_npz(None, "dynamic", path=str(path))
    assert dataset.note == "grey values rounded to 255ths"
    assert dataset.grey is not None
    assert dataset.grey.tolist() == [[128, 64, 255, 0]]


def test_own_zeros_and_ones_are_black_and_white_in_every_binarisation(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    images = {"train": grey(6, 1, 2), "validation": grey(4, 2, 2), "test": grey(5, 3, 2)}
    np.savez(path, **images)  # type: ignore[arg-type]
    for way in ("binary", "threshold", "stochastic", "dynamic"):
        dataset = npz.load_npz(None, way, path=str(path))
        for part, wanted in images.items():
            assert getattr(dataset, part).tolist() == wanted.reshape(len(wanted), -1).tolist()


@pytest.mark.parametrize("bad", [np.nan, -0.1, 256.0, 1.5, -1.0])
def test_own_values_that_are_no_grey_are_refused(bad: float, tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, train=grey(2, 1, 2), test=np.full((2, H, W), bad))
    with pytest.raises(DataError, match="between 0 and 1 or whole ones from 0 to 255, test holds others"):
        npz.load_npz(None, "dynamic", path=str(path))


def test_a_split_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    laid(tmp_path, grey(8, 1), grey(6, 2))
    with pytest.raises(DataError, match=r"has 5 \+ 3 \+ 6 training, .* holds 6 \+ 2 \+ 6"):
        mnist(tmp_path, [known(5, 3, 6, 0.5)], validation=2)
    with pytest.raises(DataError, match=r"holds 0 \+ 8 \+ 6"):
        mnist(tmp_path, [known(5, 3, 6, 0.5)], validation=9)
    with pytest.raises(DataError, match="validation must be a whole number of at least 0, -1 was given"):
        mnist(tmp_path, [known(5, 3, 6, 0.5)], validation=-1)


@pytest.mark.data
def test_dynamic_mnist_is_the_peers_split_and_draw(monkeypatch: pytest.MonkeyPatch) -> None:
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
    validation, test = as_the_peers_draw(read_images(files[0])[50000:], read_images(files[1]), 777)
    assert torch.equal(dataset.validation, torch.from_numpy(validation).to(torch.uint8))
    assert torch.equal(dataset.test, torch.from_numpy(test).to(torch.uint8))
