"""The sets in MATLAB files: Caltech's silhouettes, and Burda's Omniglot."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.io import savemat

from targets.datasets.caltech import load_caltech
from targets.datasets.chardata import load_chardata
from targets.datasets.dataset import DataError, Dataset
from tests.support.error_message import error_message
from tests.support.targets.real_sets import ROOT, real
from tests.support.targets.small_images import (
    H,
    W,
    assert_no_wrong_byte_does_worse_than_a_refusal,
    grey,
    known,
    published_draw,
    rows,
    write,
)

pytestmark = pytest.mark.usefixtures("no_network")
SPLIT1 = "Caltech101Silhouettes/split1.mat"
PARTS = ("train_data", "val_data", "test_data")
FILE = {"path": "OMNIGLOT/chardata.mat", "url": "https://example.org/chardata.mat"}
DERIVED = {"path": "OMNIGLOT/chardata_derived.mat", "sha256": "0" * 64}


def saved(path: Path, **arrays: NDArray[Any]) -> str:
    """Writes a MATLAB file, and returns its SHA-256."""
    savemat(write(path, b""), arrays, do_compression=path.name != "split1.mat")
    return sha256(path)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def silhouettes(root: Path, variants: list[dict[str, Any]], published: str | None = None) -> Dataset:
    file = {"path": SPLIT1, "url": "unused", "sha256": published or sha256(root / SPLIT1)}
    return load_caltech(str(root), binarisation="binary", file=file, shape=[H, W], variants=variants)


def figures(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Rows as in the published file: the figure 0, one column of pixels after another."""
    return np.array([[1 - image[r, c] for c in range(W) for r in range(H)] for image in images], np.uint8)


def test_silhouettes_are_upright_and_the_figure_is_one(tmp_path: Path) -> None:
    parts = grey(6, 1, 2), grey(3, 2, 2), grey(2, 3, 2)
    saved(tmp_path / SPLIT1, **dict(zip(PARTS, map(figures, parts), strict=True)))
    dataset = silhouettes(tmp_path, [known(6, 3, 2, parts[0].mean())])
    assert [part.tolist() for part in (dataset.train, dataset.validation, dataset.test)] == [
        *map(rows, parts)
    ]


GOOD = figures(grey(4, 1, 2))


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ((GOOD, GOOD), "must hold test_data with 12 numbers a row, it is missing"),
        ((GOOD[:, :5], GOOD, GOOD), "with 12 numbers a row, it is uint8 of the shape (4, 5)"),
        ((GOOD, GOOD + 1, GOOD), "caltech is not binary: val_data in"),
    ],
)
def test_other_silhouettes_are_refused(
    parts: tuple[NDArray[np.uint8], ...], sentence: str, tmp_path: Path
) -> None:
    saved(tmp_path / SPLIT1, **dict(zip(PARTS, parts, strict=False)))
    said = error_message(DataError, silhouettes, tmp_path, [])
    assert sentence in said
    assert f"'{tmp_path / SPLIT1}'" in said


@pytest.mark.parametrize("cut", [0, 60, 140, 200, -30])
def test_a_truncated_matlab_file_is_refused_by_its_digest(cut: int, tmp_path: Path) -> None:
    """SciPy would crash on some of them, and take the process with it."""
    path = tmp_path / SPLIT1
    published = saved(path, **dict.fromkeys(PARTS, figures(grey(40, 1, 2))))
    path.write_bytes(path.read_bytes()[:cut])
    assert error_message(DataError, silhouettes, tmp_path, [], published) == (
        f"'{path}' is damaged or another file: it has the SHA-256 {sha256(path)}, {published} is published"
    )


def test_a_matlab_file_with_any_wrong_byte_is_refused(tmp_path: Path) -> None:
    part = grey(6, 1, 2)
    published = saved(tmp_path / SPLIT1, **dict.fromkeys(PARTS, figures(part)))
    variants = [known(6, 6, 6, part.mean())]
    assert_no_wrong_byte_does_worse_than_a_refusal(
        tmp_path / SPLIT1, lambda: silhouettes(tmp_path, variants, published)
    )


def columns(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Images as the file holds them: one a column, each column of pixels before the next, from 0 to 1."""
    return np.stack([(image / 255).astype(np.float32).flatten(order="F") for image in images], axis=1)


def characters(root: Path, variants: list[dict[str, Any]], derived: dict[str, str] = DERIVED) -> Dataset:
    form: Any = {"shape": [H, W], "variants": variants, "seed": 777, "binarisation": "dynamic"}
    return load_chardata(str(root), file=FILE, derived=derived, validation=2, shuffle=5, **form)


def test_the_published_file_is_shuffled_split_and_drawn_as_in_the_papers_code(tmp_path: Path) -> None:
    train, test = grey(9, 1), grey(4, 2)
    saved(tmp_path / FILE["path"], data=columns(train), testdata=columns(test), target=np.eye(9))
    dataset = characters(tmp_path, [known(7, 2, 4, None, "unseen"), known(7, 2, 4, -1.0)])
    # Their code reshapes rows of the transposed matrix in two orders, and shuffles them in place.
    shuffled = columns(train).T.reshape((-1, W, H)).reshape((-1, W * H), order="F")
    np.random.RandomState(5).shuffle(shuffled)
    shuffled = np.rint(255 * shuffled).astype(np.uint8)
    validation, held_out = published_draw(shuffled[-2:], test)
    assert (dataset.name, dataset.shape, dataset.note) == ("omniglot_burda", (H, W), "unseen")
    assert dataset.grey is not None
    assert dataset.grey.tolist() == shuffled[:-2].tolist()
    assert dataset.validation.tolist() == validation.tolist()
    assert dataset.test.tolist() == held_out.tolist()
    # The images are upright: their pixels are row by row.
    assert dataset.grey.tolist() == rows(train[np.random.RandomState(5).permutation(9)][:-2])


def test_the_derived_file_is_recognised_under_either_name(tmp_path: Path) -> None:
    train, test = grey(9, 1), grey(4, 2)
    path = tmp_path / DERIVED["path"]
    derived = DERIVED | {"sha256": saved(path, data=columns(train), testdata=columns(test))}
    order = np.random.RandomState(5).permutation(9)[:-2]
    variants = [known(0, 0, 0, 0.0), known(7, 2, 4, train[order].mean() / 255, "derived here")]
    one = characters(tmp_path, variants, derived)
    assert one.note == "derived here"
    path.rename(path.with_name("chardata.mat"))
    assert characters(tmp_path, variants, derived).fingerprint() == one.fingerprint()


def test_values_that_are_no_bytes_are_rounded_with_a_note(tmp_path: Path) -> None:
    train = np.full((H * W, 9), 0.1237)
    saved(tmp_path / FILE["path"], data=train, testdata=train)
    dataset = characters(tmp_path, [known(7, 2, 9, None, "unseen")] * 2)
    assert dataset.note == "unseen; grey values rounded to 255ths"
    assert dataset.grey is not None
    assert set(dataset.grey.flatten().tolist()) == {32}


def test_a_missing_file_is_refused_with_its_address(tmp_path: Path) -> None:
    said = error_message(DataError, characters, tmp_path, [])
    assert said.startswith("omniglot_burda is missing and could not be downloaded")
    assert FILE["url"] in said
    assert f"put {FILE['path']} (a MATLAB file) into '{tmp_path}'" in said


def test_a_file_of_another_form_is_refused_by_name(tmp_path: Path) -> None:
    variants = [known(7, 2, 4, None)] * 2
    good = columns(grey(4, 2))
    for arrays, sentence in [
        ({"data": good}, "chardata.mat' must hold testdata with 12 numbers a column, it is missing"),
        ({"data": good.T, "testdata": good}, "a column, it is float32 of the shape (4, 12)"),
        ({"data": good, "testdata": 2 * good}, "between 0 and 1 or whole ones from 0 to 255, "),
        ({"data": good, "testdata": good}, "has 7 + 2 + 4 training, validation and test images, "),
        ({"data": good, "testdata": good}, " 2 + 2 + 4"),
    ]:
        saved(tmp_path / FILE["path"], **arrays)
        assert sentence in error_message(DataError, characters, tmp_path, variants)
    path = write(tmp_path / FILE["path"], b"no matrix")
    assert "chardata.mat' is damaged or not a MATLAB file" in error_message(
        DataError, characters, tmp_path, variants
    )
    path.rename(tmp_path / DERIVED["path"])
    said = error_message(DataError, characters, tmp_path, variants)
    assert "derived.mat' is damaged or another file: it has the SHA-256" in said


def test_a_file_with_any_wrong_byte_is_read_or_refused(tmp_path: Path) -> None:
    path, variants = tmp_path / FILE["path"], [known(7, 2, 4, None)] * 2
    saved(path, data=columns(grey(9, 1)), testdata=columns(grey(4, 2)))
    assert_no_wrong_byte_does_worse_than_a_refusal(path, lambda: characters(tmp_path, variants))


@pytest.mark.data
def test_the_real_characters_have_their_counts_and_are_upright(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = real("omniglot_burda", monkeypatch)
    assert [len(part) for part in (dataset.train, dataset.validation, dataset.test)] == [23000, 1345, 8070]
    assert dataset.note is not None
    assert dataset.grey is not None
    if "derived here, not Burda's split" in dataset.note:
        assert dataset.mean().mean().item() == pytest.approx(0.0807, abs=1e-4)
        # Each is one of the images of the set omniglot, which its file was made from.
        with np.load(Path(str(ROOT)) / "OMNIGLOT/omniglot_28x28.npz") as file:
            images = {image.tobytes() for part in ("train_images", "test_images") for image in file[part]}
        assert all(image.numpy().tobytes() in images for image in dataset.grey)
