"""Image sets: the digits, the real ones where DATA_ROOT has them, and what all have in common."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import pytest
import torch

from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.places import file_content
from tests.support.error_message import error_message
from tests.support.targets.real_sets import ROOT, described, loaded, real
from tests.support.targets.small_images import rows

# By the number of training images: images of the three parts, mean of the binary training pixels, the note.
REAL: dict[str, dict[int, tuple[int, int, int, float, str | None]]] = {
    "mnist": {60000: (60000, 0, 10000, 0.1323, None)},
    "fashion_mnist": {60000: (60000, 0, 10000, 0.3147, None)},
    "mnist_static": {50000: (50000, 10000, 10000, 0.1306, None)},
    "caltech": {4100: (4100, 2264, 2307, 0.4489, None)},
    "kmnist": {8000: (8000, 0, 2000, 0.1842, "subset: the 10,000 official test images re-split")},
    "emnist": {8000: (8000, 0, 2000, 0.1595, "subset: 10,000 official test letters (a to m) re-split")},
    "omniglot": {19280: (19280, 0, 13180, 0.0775, "images derived from the originals")},
}


def log_likelihood_of_means(dataset: Dataset) -> float:
    """Mean over test images of log prod_i m_i^x_i (1 - m_i)^(1 - x_i), m the clamped training mean."""
    mean = dataset.mean().clamp(0.01, 0.99)
    test = dataset.test.double()
    return (test @ mean.log() + (1 - test) @ (1 - mean).log()).mean().item()


def test_digits_need_no_folder_and_are_split_by_their_place() -> None:
    from sklearn.datasets import load_digits

    digits = loaded("digits", None)
    assert (digits.name, digits.shape, digits.grey) == ("digits", (8, 8), None)
    assert str(digits.note).startswith("split of our own")
    ink = (load_digits().images > 0).astype(int)
    place = [number % 7 for number in range(len(ink))]
    parts = [
        [image for image, p in zip(rows(ink), place, strict=True) if p in of]
        for of in ([*range(5)], [5], [6])
    ]
    assert [part.tolist() for part in (digits.train, digits.validation, digits.test)] == parts
    assert [*map(len, parts)] == [1285, 256, 256]
    assert digits.mean().mean().item() == pytest.approx(0.5112, abs=1e-4)


def test_the_digits_can_be_dynamic_too() -> None:
    static, dynamic = (loaded("digits", None, binarisation=way) for way in ("stochastic", "dynamic"))
    assert static.grey is None
    assert dynamic.grey is not None
    assert dynamic.white == 16
    assert torch.equal(dynamic.train, static.train)
    assert dynamic.mean().mean().item() == pytest.approx(0.3057, abs=1e-4)
    # Black is never drawn 1 and white never 0.
    assert not dynamic.train[dynamic.grey == 0].any()
    assert dynamic.train[dynamic.grey == 16].all()


def test_a_set_that_is_not_as_described_is_refused() -> None:
    (variant,) = described("dataset", "digits")[1]["variants"]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"variants": [variant | {"train": 1284}]}, "digits has 1,284 + 256 + 256 training, validation and "),
        ({"variants": [variant | {"train": 1284}]}, " holds 1,285 + 256 + 256"),
        ({"variants": [variant | {"mean": 0.31}]}, "digits have the mean 0.31 (+- 0.0005), those in"),
        ({"variants": [variant | {"mean": 0.31}]}, " have 0.3057"),
        ({"shape": [8, 9]}, "8 x 9 pixels, the training images in 'sklearn.datasets.load_digits' have 8 x 8"),
        ({"binarisation": "binary"}, "digits is not binary: its training images hold grey values"),
    ]
    for changed, said in cases:
        assert said in error_message(DataError, loaded, "digits", None, **changed)


def test_the_mean_of_a_dynamic_set_is_that_of_its_grey_values() -> None:
    images = torch.tensor([[0, 5], [16, 10]], dtype=torch.uint8)
    nothing = torch.zeros((2, 2), dtype=torch.uint8)
    dataset = Dataset("mine", nothing, nothing, nothing, (1, 2), grey=images, white=16)
    assert dataset.mean().tolist() == [0.5, 15 / 32]
    assert dataset.mean().dtype == torch.float64
    assert dataclasses.replace(dataset, grey=None).mean().tolist() == [0.0, 0.0]
    # Sums exceed a byte.
    many = torch.full((1000, 2), 16, dtype=torch.uint8)
    assert Dataset("mine", many, many, many, (1, 2), grey=many, white=16).mean().tolist() == [1.0, 1.0]


def test_a_fingerprint_covers_all_pixels_and_grey_values() -> None:
    one, two = (torch.tensor(values, dtype=torch.uint8) for values in ([[0, 1], [1, 1]], [[1, 0]]))
    static = Dataset("mine", one, two, two, (1, 2))
    pixels = b"(2, 2)" + bytes([0, 1, 1, 1]) + 2 * (b"(1, 2)" + bytes([1, 0]))
    assert static.fingerprint() == hashlib.sha256(pixels).hexdigest()[:16]
    # As in models that were saved before there were dynamic sets.
    assert dataclasses.replace(static, white=7).fingerprint() == static.fingerprint()
    dynamic = [
        dataclasses.replace(static, grey=values, white=white)
        for values, white in ((one, 255), (one, 16), (1 - one, 16), (one.reshape(1, 4), 16))
    ]
    assert len({static.fingerprint(), *(dataset.fingerprint() for dataset in dynamic)}) == 5


@pytest.mark.data
@pytest.mark.parametrize("name", list(REAL))
def test_a_real_set_has_its_counts_mean_and_note(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = real(name, monkeypatch)
    if len(dataset.train) not in REAL[name]:
        pytest.skip(f"{name} below DATA_ROOT is another known form of it")
    train, validation, test, mean, note = REAL[name][len(dataset.train)]
    assert (dataset.name, dataset.shape) == (name, (28, 28))
    parts = (dataset.train, dataset.validation, dataset.test)
    for part, images in zip(parts, (train, validation, test), strict=True):
        assert part.shape == (images, 784)
        assert part.dtype == torch.uint8
        assert part.is_contiguous()
        assert not (part > 1).any()
    assert dataset.mean().mean().item() == pytest.approx(mean, abs=1e-4)
    assert dataset.note == note or str(dataset.note).startswith(str(note))


@pytest.mark.data
@pytest.mark.parametrize(("name", "anchor"), [("mnist", -208.3), ("caltech", -380.1)])
def test_the_means_alone_predict_the_test_images_as_published(
    name: str, anchor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The anchors of settings B.2."""
    assert log_likelihood_of_means(real(name, monkeypatch)) == pytest.approx(anchor, abs=0.05)


@pytest.mark.data
def test_a_draw_of_mnist_has_the_mean_of_its_grey_values(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = real("mnist", monkeypatch, binarisation="stochastic")
    # 47 million independent draws: the standard deviation of their mean is below 5e-5.
    assert drawn.mean().mean().item() == pytest.approx(0.13066, abs=3e-4)
    assert not torch.equal(drawn.test, real("mnist", monkeypatch).test)


@pytest.mark.data
def test_static_mnist_is_the_published_text(monkeypatch: pytest.MonkeyPatch) -> None:
    real("mnist_static", monkeypatch)
    _, options = described("dataset", "mnist_static")
    for source in options["files"].values():
        plain = Path(str(ROOT)) / source["path"]
        file = plain if plain.is_file() else plain.with_name(f"{plain.name}.gz")
        assert hashlib.sha256(file_content(file)).hexdigest() == source["sha256"]


@pytest.mark.data
@pytest.mark.parametrize("name", ["caltech", "emnist"])
def test_transposed_files_are_turned_upright(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Upright images change more often along a row than along a column."""
    dataset = real(name, monkeypatch)
    images = dataset.train.view(-1, *dataset.shape).int()
    down = (images[:, 1:] - images[:, :-1]).abs().float().mean()
    across = (images[:, :, 1:] - images[:, :, :-1]).abs().float().mean()
    assert across > 1.05 * down
