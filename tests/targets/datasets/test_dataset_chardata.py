from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.io import savemat

from targets.datasets import chardata
from targets.datasets.dataset import DataError, Dataset
from tests.support.small_images import (
    H,
    W,
    assert_no_wrong_byte_does_worse_than_a_refusal,
    cut_network,
    grey,
    known,
)
from tests.targets.datasets.test_datasets import ROOT, real

FILE = {"path": "OMNIGLOT/chardata.mat", "url": "https://example.org/chardata.mat"}
DERIVED = {"path": "OMNIGLOT/chardata_derived.mat", "sha256": "0" * 64}
UNKNOWN = {"mean": None, "tolerance": None}


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_network(monkeypatch, "no network here")


def columns(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Images as the file holds them: one a column, each column of pixels before the next, from 0 to 1."""
    return np.stack([(image / 255).astype(np.float32).flatten(order="F") for image in images], axis=1)


def saved(root: Path, where: dict[str, str], **arrays: Any) -> Path:
    path = root / where["path"]
    path.parent.mkdir(exist_ok=True)
    savemat(path, arrays, do_compression=True)
    return path


def characters(root: Path, variants: list[dict[str, Any]], **options: Any) -> Dataset:
    given: dict[str, Any] = {
        "file": FILE,
        "derived": DERIVED,
        "validation": 2,
        "shuffle": 5,
        "shape": [H, W],
        "variants": variants,
        "seed": 777,
        "binarisation": "dynamic",
    }
    return chardata.load_chardata(str(root), **given | options)


def test_the_published_file_is_shuffled_split_and_drawn_as_the_peers_do(tmp_path: Path) -> None:
    train, test = grey(9, 1), grey(4, 2)
    saved(tmp_path, FILE, data=columns(train), testdata=columns(test), target=np.eye(9))
    variants = [known(7, 2, 4, 0) | UNKNOWN | {"note": "unseen"}, known(7, 2, 4, -1.0)]
    dataset = characters(tmp_path, variants)

    # A twin of their code: rows of the transposed matrix, reshaped in two orders, shuffled in place.
    def rows(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        return matrix.T.reshape((-1, W, H)).reshape((-1, W * H), order="F")

    peers = np.random.RandomState(5)
    shuffled = rows(columns(train))
    peers.shuffle(shuffled)
    peers = np.random.RandomState(777)
    validation, held_out = (peers.binomial(1, part) for part in (shuffled[-2:], rows(columns(test))))
    assert (dataset.name, dataset.shape, dataset.note) == ("omniglot_burda", (H, W), "unseen")
    assert dataset.grey is not None
    assert dataset.grey.tolist() == np.rint(255 * shuffled[:-2]).tolist()
    assert dataset.validation.tolist() == validation.tolist()
    assert dataset.test.tolist() == held_out.tolist()
    # The right way round: the pixels of an image of the file stand row by row.
    assert sorted(dataset.grey.tolist()) == sorted(
        train[np.random.RandomState(5).permutation(9)][:-2].reshape(7, -1).tolist()
    )


def test_the_derived_file_is_known_under_either_name_and_says_what_it_is(tmp_path: Path) -> None:
    train, test = grey(9, 1), grey(4, 2)
    path = saved(tmp_path, DERIVED, data=columns(train), testdata=columns(test))
    derived = DERIVED | {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    order = np.random.RandomState(5).permutation(9)[:-2]
    variants = [known(0, 0, 0, 0.0), known(7, 2, 4, train[order].mean() / 255, "derived here")]
    one = characters(tmp_path, variants, derived=derived)
    assert one.note == "derived here"
    path.rename(path.with_name("chardata.mat"))
    assert characters(tmp_path, variants, derived=derived).fingerprint() == one.fingerprint()


def test_values_that_are_no_bytes_are_rounded_and_the_note_says_so(tmp_path: Path) -> None:
    train = np.full((H * W, 9), 0.1237)
    saved(tmp_path, FILE, data=train, testdata=train)
    variants = [known(7, 2, 9, 0) | UNKNOWN | {"note": "unseen"}] * 2
    dataset = characters(tmp_path, variants)
    assert dataset.note == "unseen; grey values rounded to 255ths"
    assert dataset.grey is not None
    assert set(dataset.grey.flatten().tolist()) == {32}


def test_without_the_file_one_sentence_says_where_it_is_published(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refusal:
        characters(tmp_path, [])
    sentence = str(refusal.value)
    assert sentence.startswith("omniglot_burda is missing and could not be downloaded")
    assert FILE["url"] in sentence
    assert f"put {FILE['path']} (a MATLAB file) into '{tmp_path}'" in sentence
    assert "\n" not in sentence


def test_a_file_of_another_form_is_refused_by_name(tmp_path: Path) -> None:
    variants = [known(7, 2, 4, 0) | UNKNOWN] * 2
    good = columns(grey(4, 2))
    for arrays, sentence in [
        ({"data": good}, r"chardata.mat' must hold testdata with 12 numbers a column, it is missing"),
        (
            {"data": good.T, "testdata": good},
            r"must hold data with 12 .*, it is float32 of the shape \(4, 12\)",
        ),
        ({"data": good, "testdata": 2 * good}, "between 0 and 1 or whole ones from 0 to 255, "),
        ({"data": good, "testdata": good}, r"has 7 \+ 2 \+ 4 training, .* holds 2 \+ 2 \+ 4"),
    ]:
        saved(tmp_path, FILE, **arrays)
        with pytest.raises(DataError, match=sentence):
            characters(tmp_path, variants)
    path = tmp_path / FILE["path"]
    path.write_bytes(b"no matrix")
    with pytest.raises(DataError, match=r"chardata.mat' is damaged or not a MATLAB file"):
        characters(tmp_path, variants)
    path.rename(tmp_path / DERIVED["path"])
    with pytest.raises(DataError, match=r"derived.mat' is damaged or another file: it has the SHA-256"):
        characters(tmp_path, variants)


def test_a_file_with_any_wrong_byte_is_read_or_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, FILE, data=columns(grey(9, 1)), testdata=columns(grey(4, 2)))
    variants = [known(7, 2, 4, 0) | UNKNOWN] * 2
    assert_no_wrong_byte_does_worse_than_a_refusal(path, lambda: characters(tmp_path, variants))


@pytest.mark.data
def test_the_characters_have_their_counts_and_stand_upright(monkeypatch: pytest.MonkeyPatch) -> None:
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
