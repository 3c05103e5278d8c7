from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from targets.datasets.dataset import DataError, Dataset
from targets.datasets.npz import load_npz
from tests.support.error_message import error_message
from tests.support.targets.small_images import (
    H,
    W,
    assert_no_wrong_byte_does_worse_than_a_refusal,
    black_and_white,
    grey,
    published_draw,
    rows,
)

BITS = grey(2, 0, 2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine.npz"


def load(path: Path, binarisation: str = "binary", **options: Any) -> Dataset:
    return load_npz(None, binarisation, path=str(path), **options)


def test_own_images_flat_or_not_with_or_without_validation(path: Path) -> None:
    train, test = grey(6, 1, 2), grey(5, 2, 2)
    np.savez(path, train=train.astype(np.float32), test=test.astype(bool))
    dataset = load(path)
    assert (dataset.name, dataset.shape, dataset.note) == ("mine", (H, W), None)
    assert dataset.train.tolist() == rows(train)
    assert dataset.test.tolist() == rows(test)
    assert dataset.validation.shape == (0, H * W)
    for pixels, shape in [(9, (3, 3)), (12, (1, 12))]:
        flat = {part: grey(4, 3, 2).reshape(4, -1)[:, :pixels] for part in ("train", "validation", "test")}
        np.savez_compressed(path, **flat)
        dataset = load(path)
        assert dataset.shape == shape
        assert dataset.validation.tolist() == flat["validation"].tolist()


def test_a_pickle_is_refused_and_never_run(path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (path.with_name("sprung"),))

    np.savez(path, train=np.array([Trap()], dtype=object), test=BITS)
    assert "mine.npz' is damaged or not an .npz file of numbers" in error_message(DataError, load, path)
    assert not path.with_name("sprung").exists()


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"train": BITS}, "the arrays train, test and, if there is one, validation, it holds train"),
        ({"train": BITS, "test": BITS, "valid": grey(2)}, "it holds test, train, valid"),
        ({}, "it holds nothing"),
        ({"train": BITS, "test": grey(2) | 2}, "is not binary: test holds values other than 0 and 1"),
        ({"train": BITS, "test": np.full((1, H, W), np.nan)}, "is not binary: test holds values"),
        ({"train": BITS, "test": np.zeros(3)}, "test is float64 of the shape (3,)"),
        ({"train": BITS, "test": np.zeros((3, 4), "U1")}, "test is <U1 of the shape (3, 4)"),
        ({"train": BITS, "test": np.zeros((2, W, H))}, "must have one shape, test has (4, 3)"),
        ({"train": grey(0), "test": BITS}, "must hold at least one training image"),
        (
            {"train": BITS, "test": BITS[:0]},
            "must hold at least one test image, test has the shape (0, 3, 4)",
        ),
    ],
)
def test_other_arrays_are_refused(arrays: dict[str, NDArray[Any]], sentence: str, path: Path) -> None:
    np.savez(path, **arrays)
    said = error_message(DataError, load, path)
    assert sentence in said
    assert f"'{path}'" in said


def test_a_missing_or_damaged_file_is_refused_by_name(path: Path) -> None:
    missing = error_message(DataError, load, path)
    assert "mine.npz' is missing: target.dataset must name an .npz file" in missing
    np.savez(path, train=grey(50, 0, 2), test=grey(50, 0, 2))
    whole = path.read_bytes()
    single = path.with_name("single.npy")
    np.save(single, grey(2))
    damaged = whole[:200] + b"?" * 9 + whole[209:]
    for data in (b"", b"no archive", whole[:-30], whole[:100], damaged, single.read_bytes()):
        path.write_bytes(data)
        assert "mine.npz' is damaged or not an .npz file of numbers" in error_message(DataError, load, path)
    assert error_message(DataError, load, path, "grey").startswith("binarisation must be one of ")


def test_a_file_with_any_wrong_byte_is_read_or_refused(path: Path) -> None:
    np.savez_compressed(path, train=grey(6, 1, 2), test=grey(6, 2, 2))
    assert_no_wrong_byte_does_worse_than_a_refusal(path, lambda: load(path))


@pytest.mark.parametrize("scale", [np.uint8(1), np.float32(1 / 255), np.float64(1)], ids=str)
def test_grey_values_are_fractions_or_bytes(scale: Any, path: Path) -> None:
    train, validation, test = grey(6, 1), grey(4, 2), grey(5, 3)
    np.savez(path, train=train * scale, validation=validation * scale, test=test * scale)
    dataset = load(path, "dynamic", seed=777)
    assert dataset.grey is not None
    assert dataset.grey.tolist() == rows(train)
    assert (dataset.white, dataset.shape) == (255, (H, W))
    for found, expected in zip(
        (dataset.validation, dataset.test), published_draw(validation, test), strict=True
    ):
        assert found.tolist() == expected.tolist()
    static = load(path, "threshold")
    assert static.grey is None
    assert static.test.tolist() == black_and_white(test)


def test_the_name_of_a_file_changes_no_image(tmp_path: Path) -> None:
    """As its content, not its name, enters the identity of a model."""
    drawn = []
    for name in ("one.npz", "two.npz"):
        np.savez(tmp_path / name, train=grey(6, 1), test=grey(5, 3))
        drawn.append(load(tmp_path / name, "stochastic"))
    assert drawn[0].fingerprint() == drawn[1].fingerprint()


def test_fractions_that_are_no_bytes_are_rounded_with_a_note(path: Path) -> None:
    np.savez(path, train=np.array([[0.5, 0.25, 1, 0]]), test=np.array([[0, 1, 0, 1]]))
    dataset = load(path, "dynamic")
    assert dataset.note == "grey values rounded to 255ths"
    assert dataset.grey is not None
    assert dataset.grey.tolist() == [[128, 64, 255, 0]]


@pytest.mark.parametrize(
    ("most", "note"), [(200, "grey values of 0 to 255, the largest is 200"), (255, None)]
)
def test_whole_numbers_say_their_largest_if_it_is_not_white(most: int, note: str | None, path: Path) -> None:
    np.savez(path, train=np.array([[0, most]]), test=np.array([[0, 1]]) * 150)
    assert load(path, "threshold").note == note


@pytest.mark.parametrize("way", ["threshold", "stochastic", "dynamic"])
@pytest.mark.parametrize("most", [2, 16, 127])
def test_whole_numbers_of_another_scale_are_refused(most: int, way: str, path: Path) -> None:
    np.savez(path, train=np.array([[0, most]]), test=np.array([[0, 1]]) * most)
    assert error_message(DataError, load, path, way) == (
        f"'{path}' must hold whole numbers on the scale from 0 to 255, its largest is {most}: divide all by "
        f"{most}, if that is white"
    )


@pytest.mark.parametrize(("pixels", "value"), [([0.2, 0.4], 0), ([0.6, 0.8], 1)])
def test_a_threshold_that_leaves_one_value_is_refused(pixels: list[float], value: int, path: Path) -> None:
    np.savez(path, train=np.array([[0.0, 1.0]]), test=np.array([pixels]))
    low, high = pixels
    assert error_message(DataError, load, path, "threshold") == (
        f"'{path}' must hold grey values on both sides of threshold=0.5, those of test go from {low:g} to "
        f"{high:g} and would all be {value}"
    )
    assert load(path, "stochastic").test.shape == (1, 2)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.6, 0.7])
def test_fractions_are_compared_with_the_threshold_as_they_are(
    threshold: float, kind: Any, path: Path
) -> None:
    """Rounded first, 0.5 is 128 of 255, which is above 127.5."""
    near = np.array([[0, threshold - 0.001, threshold, threshold + 0.001, 1]]).astype(kind)
    np.savez(path, train=near, test=near)
    dataset = load(path, "threshold", threshold=threshold)
    assert dataset.train.tolist() == dataset.test.tolist() == [[0, 0, 0, 1, 1]]
    assert dataset.grey_test is not None
    assert np.abs(dataset.grey_test.numpy() - 255 * near).max() < 1


@pytest.mark.parametrize("way", ["binary", "threshold", "stochastic", "dynamic"])
def test_zeros_and_ones_are_black_and_white_in_every_binarisation(way: str, path: Path) -> None:
    images = {"train": grey(6, 1, 2), "validation": grey(4, 2, 2), "test": grey(5, 3, 2)}
    np.savez(path, **images)  # type: ignore[arg-type]
    dataset = load(path, way)
    for part, expected in images.items():
        assert getattr(dataset, part).tolist() == rows(expected)


@pytest.mark.parametrize("part", ["train", "validation", "test"])
def test_parts_on_two_scales_are_refused(part: str, path: Path) -> None:
    """Beside bytes, zeros and ones would all be black by the threshold."""
    images = {"train": grey(6, 1), "validation": grey(6, 2), "test": grey(6, 3), part: grey(6, 1, 2)}
    np.savez(path, **images)  # type: ignore[arg-type]
    most = max((name for name in images if name != part), key=lambda name: images[name].max())
    assert error_message(DataError, load, path, "threshold") == (
        f"'{path}' must hold all its images on one scale, from 0 to 1 or from 0 to 255; {part} has values up "
        f"to 1, {most} up to {images[most].max()}"
    )
    np.savez(path, **{**images, part: np.zeros((2, H, W))})  # type: ignore[arg-type]
    assert not getattr(load(path, "threshold"), part).any()


@pytest.mark.parametrize("bad", [np.nan, -0.1, 256.0, 1.5, -1.0])
def test_values_that_are_no_grey_are_refused(bad: float, path: Path) -> None:
    np.savez(path, train=BITS, test=np.full((2, H, W), bad))
    said = error_message(DataError, load, path, "dynamic")
    assert "between 0 and 1 or whole ones from 0 to 255, test holds others" in said
