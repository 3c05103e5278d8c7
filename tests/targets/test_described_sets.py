"""The sets of conf/dataset and conf/tabular are described completely."""

from __future__ import annotations

import inspect

import pytest

from targets.datasets.binarise import BINARISATIONS
from targets.datasets.dataset import DataError
from tests.support.error_message import error_message
from tests.support.targets.real_sets import CONF, described

SETS = {
    "dataset": [
        *("caltech", "digits", "emnist", "fashion_mnist", "kmnist", "mnist", "mnist_dynamic", "mnist_static"),
        *("omniglot", "omniglot_burda"),
    ],
    "tabular": ["adult", "blog", "breast_cancer", "compas", "news"],
}
PAIRS = [(group, name) for group, names in SETS.items() for name in names]
OF_THE_RUN = {"dataset": {}, "tabular": {"split_seed": 0}}
KEYS = {
    "dataset": {"train", "validation", "test", "mean", "tolerance", "note"},
    "tabular": {"train", "test", "note"},
}


@pytest.mark.parametrize("group", SETS)
def test_the_sets_are_these(group: str) -> None:
    assert sorted(path.stem for path in (CONF / group).glob("*.yaml")) == SETS[group]


@pytest.mark.parametrize(("group", "name"), PAIRS)
def test_a_description_is_complete(group: str, name: str) -> None:
    load, options = described(group, name)
    inspect.signature(load).bind(root=None, **OF_THE_RUN[group], **options)
    for variant in options["variants"]:
        assert set(variant) == KEYS[group]
    if group == "dataset":
        assert options["binarisation"] in BINARISATIONS
        for variant in options["variants"]:
            assert variant["mean"] is variant["tolerance"] is None or 0 < variant["tolerance"] <= 0.001
            # A number on images that have not been checked must say so.
            assert variant["mean"] is not None or variant["note"] is not None


@pytest.mark.parametrize(
    ("group", "name"), [pair for pair in PAIRS if pair[1] not in ("digits", "breast_cancer")]
)
@pytest.mark.parametrize("root", [None, "", "/nowhere/at/all"])
def test_without_a_folder_the_message_says_what_to_give(group: str, name: str, root: str | None) -> None:
    load, options = described(group, name)
    said = error_message(DataError, load, root, **OF_THE_RUN[group], **options)
    assert "DATA_ROOT" in said
    assert "data.root" in said
