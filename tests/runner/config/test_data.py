"""Data sets by name: what decides their images enters identities, and dynamic ones are trained on anew."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from runner.config.data import datasets
from runner.execution.errors import UserError
from runner.tasks.images.labels import labels_of
from targets.datasets.binarise import BINARISATIONS
from targets.datasets.dataset import Dataset


def test_the_floors_know_the_same_binarisations() -> None:
    assert datasets.BINARISATIONS == BINARISATIONS


@pytest.mark.parametrize(
    ("name", "binarisation", "content"),
    [
        # As they were before there were dynamic sets, so that kept models stay theirs.
        ("digits", None, {"name": "digits", "binarisation": "threshold", "threshold": 0.03}),
        ("mnist", None, {"name": "mnist", "binarisation": "threshold", "threshold": 0.5}),
        ("mnist", "stochastic", {"name": "mnist", "binarisation": "stochastic", "seed": 0}),
        ("caltech", None, {"name": "caltech", "binarisation": "binary"}),
        # A dynamic set is what its seed draws and its split holds out.
        ("mnist", "dynamic", {"name": "mnist", "binarisation": "dynamic", "seed": 0}),
        (
            "mnist_dynamic",
            None,
            {"name": "mnist_dynamic", "binarisation": "dynamic", "seed": 777, "validation": 10000},
        ),
        (
            "mnist_dynamic",
            "threshold",
            {"name": "mnist_dynamic", "binarisation": "threshold", "threshold": 0.5, "validation": 10000},
        ),
        (
            "omniglot_burda",
            None,
            {
                "name": "omniglot_burda",
                "binarisation": "dynamic",
                "seed": 777,
                "validation": 1345,
                "shuffle": 1234567,
            },
        ),
    ],
)
def test_what_decides_images_is_known(name: str, binarisation: str | None, content: dict[str, Any]) -> None:
    assert datasets.dataset_identity(name, binarisation) == content


def test_an_own_file_is_its_content_and_its_binarisation(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, train=np.full((3, 4), 207, np.uint8), test=np.full((2, 4), 255, np.uint8))
    digest = datasets.file_digest(path)
    assert datasets.dataset_identity(str(path)) == {"binarisation": "binary", "sha256": digest}
    assert datasets.dataset_identity(str(path), "dynamic") == {
        "binarisation": "dynamic",
        "seed": 0,
        "sha256": digest,
    }
    dataset = datasets.load_dataset(str(path), "dynamic", None)
    assert dataset.grey is not None
    assert dataset.grey.unique().tolist() == [207]
    with pytest.raises(
        UserError, match="for grey ones binarisation must be threshold, stochastic or dynamic"
    ):
        datasets.load_dataset(str(path), None, None)


def test_any_grey_set_can_be_dynamic() -> None:
    dataset = datasets.load_dataset("digits", "dynamic", None)
    assert dataset.grey is not None
    assert torch.equal(dataset.train, datasets.load_dataset("digits", "stochastic", None).train)
    assert dataset.fingerprint() != datasets.load_dataset("digits", "stochastic", None).fingerprint()


@pytest.mark.parametrize("name", ["mnist_dynamic", "omniglot_burda"])
def test_a_dynamic_set_that_is_not_there_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"{name} needs a folder of data sets, say where with DATA_ROOT"):
        datasets.load_dataset(name, None, None)
    if name == "omniglot_burda":  # never asks the network
        with pytest.raises(UserError, match=r"github\.com/yburda.*put OMNIGLOT/chardata\.mat") as refusal:
            datasets.load_dataset(name, None, str(tmp_path))
        assert "\n" not in str(refusal.value)


def test_labels_go_with_the_images_that_are_left_for_training(tmp_path: Path) -> None:
    folder = tmp_path / "MNIST" / "raw"
    folder.mkdir(parents=True)
    for part, labels in (("train", [3, 1, 2, 3] + 10000 * [9]), ("t10k", [2, 1])):
        header = b"\x00\x00\x08\x01" + struct.pack(">I", len(labels))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(header + bytes(labels))
    train, test = (torch.zeros((images, 4), dtype=torch.uint8) for images in (4, 2))
    found = labels_of(Dataset("mnist_dynamic", train, train, test, (2, 2)), "mnist_dynamic", tmp_path, False)
    assert found.names == (1, 2, 3)
    assert found.train.tolist() == [2, 0, 1, 2]
    assert found.test.tolist() == [1, 0]
