"""The sets of conf/tabular: that they are described whole, and the real ones where DATA_ROOT has them."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import torch

import conf
from targets.datasets.dataset import DataError
from tests.support.real_sets import ROOT, described
from tests.support.refusal import refusal

FOLDER = Path(conf.__path__[0]) / "tabular"
NAMES = ["adult", "blog", "breast_cancer", "compas", "news"]

# Rows of the three parts, features, mean outcome of the training rows, beginning of the note.
REAL = {
    "compas": (4887, 50, 1235, 13, 0.4608, None),
    "news": (12542, 127, 3168, 58, 0.4962, "subset: 15,837 of 39,644 articles"),
    "adult": (29860, 302, 15060, 88, 0.2489, None),
    "blog": (46814, 473, 7027, 276, 0.0940, None),
}


def test_the_sets_are_these() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.yaml")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_description_is_complete(name: str) -> None:
    load, options = described(name, FOLDER)
    inspect.signature(load).bind(root=None, split_seed=0, **options)
    for variant in options["variants"]:
        assert set(variant) == {"train", "test", "note"}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "breast_cancer"])
@pytest.mark.parametrize("root", [None, "", "/nowhere/at/all"])
def test_without_a_folder_of_data_the_message_says_what_to_give(name: str, root: str | None) -> None:
    load, options = described(name, FOLDER)
    assert "DATA_ROOT" in refusal(DataError, load, root, split_seed=0, **options)


@pytest.mark.data
@pytest.mark.parametrize("name", list(REAL))
def test_the_real_set_is_as_described(name: str) -> None:
    if ROOT is None or not Path(ROOT).is_dir():
        pytest.skip("DATA_ROOT names no folder of data sets")
    load, options = described(name, FOLDER)
    try:
        data = load(ROOT, split_seed=78712, **options)
    except DataError as error:
        if "is missing" in str(error):
            pytest.skip(f"{name} is not below DATA_ROOT")
        raise
    train, validation, test, features, mean, note = REAL[name]
    assert [len(part) for part in data.parts.values()] == [train, validation, test]
    assert data.features == features
    assert data.train.outcome.mean().item() == pytest.approx(mean, abs=1e-4)
    assert data.note == note or str(data.note).startswith(str(note))
    for part in data.parts.values():
        assert part.inputs.isfinite().all()
        assert ((part.outcome >= 0) & (part.outcome <= 1)).all()
    torch.testing.assert_close(
        data.train.inputs.std(0, correction=0), torch.ones(features).double(), atol=1e-9, rtol=0
    )
