"""The sets of conf/dataset: that they are described whole, and the real ones where DATA_ROOT has them."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

import conf
from targets.datasets.binarise import BINARISATIONS
from targets.datasets.dataset import DataError, Dataset
from targets.datasets.files.places import content
from tests.support.small_images import cut_network

FOLDER = Path(conf.__path__[0]) / "dataset"
NAMES = [
    *("caltech", "digits", "emnist", "fashion_mnist", "kmnist", "mnist", "mnist_dynamic", "mnist_static"),
    *("omniglot", "omniglot_burda"),
]
ROOT = os.environ.get("DATA_ROOT")
NOT_IN_TESTS = "tests do not download"

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


def described(name: str) -> tuple[Callable[..., Dataset], dict[str, Any]]:
    """The function of a set and its arguments, as the runner reads them."""
    options = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    assert options.pop("name") == name
    module, _, function = options.pop("_target_").rpartition(".")
    return getattr(importlib.import_module(module), function), options


def loaded(name: str, root: str | None, **changed: Any) -> Dataset:
    load, options = described(name)
    return load(root=root, **(options | changed))


def real(name: str, monkeypatch: pytest.MonkeyPatch, **changed: Any) -> Dataset:
    """The set below DATA_ROOT; skips where it is not there."""
    if ROOT is None or not Path(ROOT).is_dir():
        pytest.skip("DATA_ROOT names no folder of data sets")
    cut_network(monkeypatch, NOT_IN_TESTS)
    try:
        return loaded(name, ROOT, **changed)
    except DataError as error:
        if NOT_IN_TESTS in str(error):
            pytest.skip(f"{name} is not below DATA_ROOT")
        raise


def log_likelihood_of_means(dataset: Dataset) -> float:
    """Mean over test images of log prod_i m_i^x_i (1 - m_i)^(1 - x_i), m the clamped training mean."""
    mean = dataset.mean().clamp(0.01, 0.99)
    test = dataset.test.double()
    return (test @ mean.log() + (1 - test) @ (1 - mean).log()).mean().item()


def test_the_ten_sets_are_described() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.yaml")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_description_is_whole(name: str) -> None:
    load, options = described(name)
    inspect.signature(load).bind(root=None, **options)
    assert options["binarisation"] in BINARISATIONS
    for variant in options["variants"]:
        assert set(variant) == {"train", "validation", "test", "mean", "tolerance", "note"}
        assert variant["mean"] is variant["tolerance"] is None or 0 < variant["tolerance"] <= 0.001
        # A number on images that nobody has checked must say so.
        assert variant["mean"] is not None or variant["note"] is not None


@pytest.mark.parametrize("name", [name for name in NAMES if name != "digits"])
@pytest.mark.parametrize("root", [None, "", "/nowhere/at/all"])
def test_without_a_folder_of_data_one_sentence_says_what_to_give(name: str, root: str | None) -> None:
    with pytest.raises(DataError, match=r"DATA_ROOT.*data\.root|data\.root.*DATA_ROOT") as refusal:
        loaded(name, root)
    assert "\n" not in str(refusal.value)


def test_digits_need_no_folder_and_are_split_by_their_place() -> None:
    from sklearn.datasets import load_digits

    digits = loaded("digits", None)
    assert digits.name == "digits"
    assert digits.shape == (8, 8)
    assert [len(part) for part in (digits.train, digits.validation, digits.test)] == [1285, 256, 256]
    assert digits.note is not None
    assert digits.note.startswith("split of our own")
    rows: dict[int, list[list[int]]] = {0: [], 5: [], 6: []}
    for place, image in enumerate(load_digits().images):
        rows[max(place % 7, 4) if place % 7 > 4 else 0].append([int(grey > 0) for grey in image.flatten()])
    assert digits.train.tolist() == rows[0]
    assert digits.validation.tolist() == rows[5]
    assert digits.test.tolist() == rows[6]
    assert digits.mean().mean().item() == pytest.approx(0.5112, abs=1e-4)


def test_what_is_not_the_known_set_is_refused() -> None:
    _, options = described("digits")
    (variant,) = options["variants"]
    with pytest.raises(DataError, match=r"digits has 1,284 \+ 256 \+ 256 .* holds 1,285 \+ 256 \+ 256"):
        loaded("digits", None, variants=[variant | {"train": 1284}])
    with pytest.raises(DataError, match=r"mean 0.31 \(\+- 0.0005\), those in 'sklearn.*' have 0.3057"):
        loaded("digits", None, variants=[variant | {"mean": 0.31}])
    with pytest.raises(DataError, match=r"8 x 9 pixels, the training images in 'sklearn.*' have 8 x 8"):
        loaded("digits", None, shape=[8, 9])
    with pytest.raises(DataError, match="digits is not binary: its training images hold grey values"):
        loaded("digits", None, binarisation="binary")


@pytest.mark.data
@pytest.mark.parametrize("name", list(REAL))
def test_a_real_set_has_its_counts_mean_and_note(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = real(name, monkeypatch)
    if len(dataset.train) not in REAL[name]:
        pytest.skip(f"{name} below DATA_ROOT is another known form of it")
    train, validation, test, mean, note = REAL[name][len(dataset.train)]
    assert dataset.name == name
    assert dataset.shape == (28, 28)
    assert dataset.train.shape == (train, 784)
    assert dataset.validation.shape == (validation, 784)
    assert dataset.test.shape == (test, 784)
    for part in (dataset.train, dataset.validation, dataset.test):
        assert part.dtype == torch.uint8
        assert part.is_contiguous()
        assert not (part > 1).any()
    assert dataset.mean().mean().item() == pytest.approx(mean, abs=1e-4)
    if note is None:
        assert dataset.note is None
    else:
        assert dataset.note is not None
        assert dataset.note.startswith(note)


@pytest.mark.data
@pytest.mark.parametrize(("name", "anchor"), [("mnist", -208.3), ("caltech", -380.1)])
def test_the_means_alone_predict_the_test_images_as_well_as_was_measured_elsewhere(
    name: str, anchor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The anchors of settings B.2."""
    assert log_likelihood_of_means(real(name, monkeypatch)) == pytest.approx(anchor, abs=0.05)


@pytest.mark.data
def test_a_draw_of_mnist_is_as_bright_as_its_grey_values(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = real("mnist", monkeypatch, binarisation="stochastic")
    # 47 million independent draws: the standard deviation of their mean is below 5e-5.
    assert drawn.mean().mean().item() == pytest.approx(0.13066, abs=3e-4)
    assert not torch.equal(drawn.test, real("mnist", monkeypatch).test)


@pytest.mark.data
def test_static_mnist_is_the_published_text(monkeypatch: pytest.MonkeyPatch) -> None:
    real("mnist_static", monkeypatch)
    _, options = described("mnist_static")
    for source in options["files"].values():
        plain = Path(str(ROOT)) / source["path"]
        file = plain if plain.is_file() else plain.with_name(f"{plain.name}.gz")
        assert hashlib.sha256(content(file)).hexdigest() == source["sha256"]


@pytest.mark.data
@pytest.mark.parametrize("name", ["caltech", "emnist"])
def test_transposed_files_are_turned_to_be_seen_upright(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands upright changes more often along a row than along a column; turned, it is the reverse."""
    dataset = real(name, monkeypatch)
    images = dataset.train.view(-1, *dataset.shape).int()
    down = (images[:, 1:] - images[:, :-1]).abs().float().mean()
    across = (images[:, :, 1:] - images[:, :, :-1]).abs().float().mean()
    assert across > 1.05 * down
