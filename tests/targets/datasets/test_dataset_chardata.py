from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.io import savemat

from targets.datasets.chardata import load_chardata
from targets.datasets.dataset import DataError, Dataset
from tests.support.real_sets import ROOT, real
from tests.support.refusal import refusal
from tests.support.small_images import (
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
FILE = {"path": "OMNIGLOT/chardata.mat", "url": "https://example.org/chardata.mat"}
DERIVED = {"path": "OMNIGLOT/chardata_derived.mat", "sha256": "0" * 64}


def columns(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Images as the file holds them: one a column, each column of pixels before the next, from 0 to 1."""
    return np.stack([(image / 255).astype(np.float32).flatten(order="F") for image in images], axis=1)


def saved(root: Path, where: dict[str, str], **arrays: Any) -> Path:
    path = write(root / where["path"], b"")
    savemat(path, arrays, do_compression=True)
    return path


def characters(root: Path, variants: list[dict[str, Any]], derived: dict[str, str] = DERIVED) -> Dataset:
    form: Any = {"shape": [H, W], "variants": variants, "seed": 777, "binarisation": "dynamic"}
    return load_chardata(str(root), file=FILE, derived=derived, validation=2, shuffle=5, **form)


def test_the_published_file_is_shuffled_split_and_drawn_as_in_the_papers_code(tmp_path: Path) -> None:
    train, test = grey(9, 1), grey(4, 2)
    saved(tmp_path, FILE, data=columns(train), testdata=columns(test), target=np.eye(9))
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
    path = saved(tmp_path, DERIVED, data=columns(train), testdata=columns(test))
    derived = DERIVED | {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    order = np.random.RandomState(5).permutation(9)[:-2]
    variants = [known(0, 0, 0, 0.0), known(7, 2, 4, train[order].mean() / 255, "derived here")]
    one = characters(tmp_path, variants, derived)
    assert one.note == "derived here"
    path.rename(path.with_name("chardata.mat"))
    assert characters(tmp_path, variants, derived).fingerprint() == one.fingerprint()


def test_values_that_are_no_bytes_are_rounded_with_a_note(tmp_path: Path) -> None:
    train = np.full((H * W, 9), 0.1237)
    saved(tmp_path, FILE, data=train, testdata=train)
    dataset = characters(tmp_path, [known(7, 2, 9, None, "unseen")] * 2)
    assert dataset.note == "unseen; grey values rounded to 255ths"
    assert dataset.grey is not None
    assert set(dataset.grey.flatten().tolist()) == {32}


def test_a_missing_file_is_refused_with_its_address(tmp_path: Path) -> None:
    said = refusal(DataError, characters, tmp_path, [])
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
        saved(tmp_path, FILE, **arrays)
        assert sentence in refusal(DataError, characters, tmp_path, variants)
    path = write(tmp_path / FILE["path"], b"no matrix")
    assert "chardata.mat' is damaged or not a MATLAB file" in refusal(
        DataError, characters, tmp_path, variants
    )
    path.rename(tmp_path / DERIVED["path"])
    said = refusal(DataError, characters, tmp_path, variants)
    assert "derived.mat' is damaged or another file: it has the SHA-256" in said


def test_a_file_with_any_wrong_byte_is_read_or_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, FILE, data=columns(grey(9, 1)), testdata=columns(grey(4, 2)))
    variants = [known(7, 2, 4, None)] * 2
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
