from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from targets.datasets import npz
from targets.datasets.dataset import DataError
from tests.support.small_images import H, W, assert_no_wrong_byte_does_worse_than_a_refusal, grey


def test_own_images_flat_or_not_with_or_without_validation(tmp_path: Path) -> None:
    train, test = grey(6, 1, 2), grey(5, 2, 2)
    path = tmp_path / "mine.npz"
    np.savez(path, train=train.astype(np.float32), test=test.astype(bool))
    dataset = npz.load_npz(None, "binary", path=str(path))
    assert (dataset.name, dataset.shape, dataset.note) == ("mine", (H, W), None)
    assert dataset.train.tolist() == train.reshape(6, -1).tolist()
    assert dataset.test.tolist() == test.reshape(5, -1).tolist()
    assert dataset.validation.shape == (0, H * W)
    for pixels, shape in [(9, (3, 3)), (12, (1, 12))]:
        flat = {part: grey(4, 3, 2).reshape(4, -1)[:, :pixels] for part in ("train", "validation", "test")}
        np.savez_compressed(path, **flat)
        dataset = npz.load_npz(None, "binary", path=str(path))
        assert dataset.shape == shape
        assert dataset.validation.tolist() == flat["validation"].tolist()


def test_a_pickle_in_an_own_file_is_refused_and_never_run(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "sprung",))

    path = tmp_path / "mine.npz"
    np.savez(path, train=np.array([Trap()], dtype=object), test=grey(2, 1, 2))
    with pytest.raises(DataError, match=r"mine.npz' is damaged or not an .npz file of numbers"):
        npz.load_npz(None, "binary", path=str(path))
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        (
            {"train": grey(2, 0, 2)},
            "must hold the arrays train, test and, if there is one, validation, it holds train",
        ),
        ({"train": grey(2, 0, 2), "test": grey(2, 0, 2), "valid": grey(2)}, "it holds test, train, valid"),
        ({}, "it holds nothing"),
        (
            {"train": grey(2, 0, 2), "test": grey(2) | 2},
            "is not binary: test holds values other than 0 and 1",
        ),
        ({"train": grey(2, 0, 2), "test": np.full((1, H, W), np.nan)}, "is not binary: test holds values"),
        ({"train": grey(2, 0, 2), "test": np.zeros(3)}, "test is float64 of the shape (3,)"),
        ({"train": grey(2, 0, 2), "test": np.zeros((3, 4), "U1")}, "test is <U1 of the shape (3, 4)"),
        ({"train": grey(2, 0, 2), "test": np.zeros((2, W, H))}, "must have one shape, test has (4, 3)"),
        ({"train": grey(0), "test": grey(2, 0, 2)}, "must hold at least one training image"),
    ],
)
def test_own_images_of_another_form_are_refused_by_name(
    arrays: dict[str, NDArray[Any]], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, **arrays)
    with pytest.raises(DataError) as refusal:
        npz.load_npz(None, "binary", path=str(path))
    assert sentence in str(refusal.value)
    assert f"'{path}'" in str(refusal.value)


def test_an_own_file_that_is_missing_cut_or_something_else_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    with pytest.raises(DataError, match=r"mine.npz' is missing: target.dataset must name an .npz file"):
        npz.load_npz(None, "binary", path=str(path))
    np.savez(path, train=grey(50, 0, 2), test=grey(50, 0, 2))
    whole = path.read_bytes()
    single = tmp_path / "single.npy"
    np.save(single, grey(2))
    for data in (
        b"",
        b"no archive",
        whole[:-30],
        whole[:100],
        whole[:200] + b"?" * 9 + whole[209:],
        single.read_bytes(),
    ):
        path.write_bytes(data)
        with pytest.raises(DataError, match=r"mine.npz' is damaged or not an .npz file of numbers"):
            npz.load_npz(None, "binary", path=str(path))
    with pytest.raises(DataError, match=r"binarisation must be one of .*, 'grey' was given"):
        npz.load_npz(None, "grey", path=str(path))


def test_an_own_file_with_any_wrong_byte_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    np.savez_compressed(path, train=grey(6, 1, 2), test=grey(6, 2, 2))
    assert_no_wrong_byte_does_worse_than_a_refusal(path, lambda: npz.load_npz(None, "binary", path=str(path)))
