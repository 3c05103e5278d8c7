"""Files of data sets: known ones are read, others refused or a part of every identity."""

from __future__ import annotations

import copy
import functools
import gzip
import hashlib
import os
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from omegaconf import DictConfig

from runner.config.compose import compose
from runner.config.data import datasets, known_files
from runner.config.data.known_files import file_places
from runner.execution.errors import UserError
from runner.models.identity import tuning_id
from runner.models.recipe import recipe_of
from runner.tasks.images.labels import labels_of
from runner.tasks.images.sampled_images import _identity as image_identity
from runner.tasks.run_identity import run_ids, written_run
from tests.support.commands import refusal
from tests.support.targets.real_sets import CONF

TRAIN, TEST = (f"MNIST/raw/{part}-images-idx3-ubyte" for part in ("train", "t10k"))
LABELS = TRAIN.replace("images-idx3", "labels-idx1")
RUN = ("target=rbm", "target.dataset=mnist", "target.n_hidden=3", "sampler=dmala", "metric=[jump]")
Write = Callable[..., Path]


def idx(values: np.ndarray[Any, Any]) -> bytes:
    return struct.pack(f">{values.ndim + 1}I", 0x800 + values.ndim, *values.shape) + values.tobytes()


PIXELS = np.random.default_rng(0).integers(0, 255, (6, 2, 2)).astype(np.uint8)
PERMUTED = np.ascontiguousarray(PIXELS[:, ::-1])
CONTENT = {TRAIN: idx(PIXELS), TEST: idx(PIXELS[:2])}
FLIPPED = CONTENT[TRAIN][:-1] + bytes([CONTENT[TRAIN][-1] ^ 1])


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes the files of a small `mnist`, whose own content is known, and gives the root."""
    mean = float(PIXELS.mean() / 255)
    small = {
        **datasets.option("dataset", "mnist", ""),
        "shape": [2, 2],
        "variants": [{"train": 6, "validation": 0, "test": 2, "mean": mean, "tolerance": 0.01, "note": None}],
        "sha256_of": {path: [64 * "0", sha256(content)] for path, content in CONTENT.items()},
    }
    monkeypatch.setattr(datasets, "option", lambda *_: small)
    datasets._load.cache_clear()

    def written(suffix: str = "", **changed: bytes) -> Path:
        for path, content in (CONTENT | {TRAIN: changed.get("train", CONTENT[TRAIN])}).items():
            file = tmp_path / f"{path}{suffix}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(gzip.compress(content) if suffix else content)
        return tmp_path

    return written


@functools.cache
def composed(*run: str) -> DictConfig:
    return compose(list(run))


def config_of(root: Path, *run: str, verify: bool = True) -> DictConfig:
    """`run` with its data below `root`; composing is what takes time."""
    config = copy.deepcopy(composed(*run))
    config.data = {"root": str(root), "verify": verify}
    return config


def ids(root: Path, *, verify: bool = True) -> tuple[str, str, str]:
    """Of the run, of the tuned sampler and of the trained model."""
    config = config_of(root, *RUN, verify=verify)
    return run_ids(config, "cpu", [0])[0], tuning_id(config, "cpu"), recipe_of(config).model_id


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_known_files_are_read_and_change_no_identity(write: Write, suffix: str) -> None:
    root = write(suffix)
    assert len(datasets.load_dataset("mnist", None, root).train) == 6
    assert ids(root) == ids(root, verify=False) == ids(root / "nowhere")


def test_the_digest_may_be_of_the_published_file(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(".gz")
    packed = {path: [sha256((root / f"{path}.gz").read_bytes())] for path in CONTENT}
    monkeypatch.setitem(datasets.option("dataset", "mnist", ""), "sha256_of", packed)
    datasets.load_dataset("mnist", None, root)


@pytest.mark.parametrize("train", [idx(PERMUTED), FLIPPED], ids=["permuted", "one bit"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_other_files_are_refused_before_any_work(write: Write, train: bytes, suffix: str) -> None:
    root = write(suffix, train=train)
    said = refusal(*RUN, f"data.root={root}")
    expected = (
        f"data.verify=true refuses '{root}/{TRAIN}{suffix}' of mnist: its SHA-256 begins with "
        f"{sha256(train)[:16]}, those known are 0000000000000000 and {sha256(CONTENT[TRAIN])[:16]}; put the "
        "published file there, or give data.verify=false, which makes the digest a part of each run's "
        "identity."
    )
    assert said == expected


@pytest.mark.parametrize("kept", [0, 15])
def test_a_plain_file_that_hides_a_whole_gz_is_told(write: Write, kept: int) -> None:
    root = write(".gz")
    (root / TRAIN).write_bytes(CONTENT[TRAIN][:kept])
    assert f"; remove it, so that '{root}/{TRAIN}.gz' is read, or give" in refusal(*RUN, f"data.root={root}")


@pytest.mark.parametrize("train", [idx(PERMUTED), FLIPPED], ids=["permuted", "one bit"])
def test_a_file_that_is_let_in_shares_no_identity(write: Write, train: bytes) -> None:
    known = ids(write())
    unknown = ids(write(train=train), verify=False)
    assert all(one != other for one, other in zip(known, unknown, strict=True))
    assert unknown == ids(write(".gz", train=train), verify=False)
    third = bytes([train[-1] ^ 2])
    assert unknown[0] != ids(write(train=train[:-1] + third), verify=False)[0]
    assert len(datasets.load_dataset("mnist", None, write(train=train), False).train) == 6


@pytest.mark.parametrize("first_is_known", [True, False])
def test_files_of_a_later_place_are_other_runs(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, first_is_known: bool
) -> None:
    first, only = ids(write()), tmp_path / "only"
    spec: Any = datasets.option("dataset", "mnist", "")
    later = {f"subset/{path}": known for path, known in spec["sha256_of"].items()}
    known = {**spec["sha256_of"], **later} if first_is_known else later
    places = [*spec["places"], {role: f"subset/{path}" for role, path in spec["places"][0].items()}]
    monkeypatch.setitem(spec, "places", places)
    monkeypatch.setitem(spec, "sha256_of", known)
    (only / "subset").mkdir(parents=True)
    (tmp_path / "MNIST").rename(only / "subset" / "MNIST")
    found = ids(only)
    assert [one == other for one, other in zip(first, found, strict=True)] == 3 * [not first_is_known]
    assert found == ids(only, verify=False)
    assert len(datasets.load_dataset("mnist", None, only).train) == 6
    config = config_of(only, *RUN)
    digests = ", ".join(sorted(sha256(content)[:16] for content in CONTENT.values()))
    content = written_run(config).get("content", {})
    assert ", ".join(sorted(content.get("data", "").split(", "))) == (digests if first_is_known else "")
    images = [
        image_identity(config_of(root, *RUN, "task=classify", "task.images=training"), 0)
        for root in (write(), only)
    ]
    assert (images[0] != images[1]) == first_is_known


def test_what_a_download_would_bring_has_no_identity_yet(write: Write) -> None:
    root = write()
    (root / TRAIN).unlink()
    with pytest.raises(
        UserError, match=f"data.verify=false makes .* they are not in '{root}': put {TRAIN} and"
    ):
        ids(root, verify=False)


def test_labels_are_verified_as_images_are(write: Write) -> None:
    root = write()
    for path, number in ((LABELS, 6), (LABELS.replace("train", "t10k"), 2)):
        (root / path).write_bytes(idx(np.arange(number, dtype=np.uint8)))
    data = datasets.load_dataset("mnist", None, root)
    with pytest.raises(
        UserError, match=f"refuses '{root}/{LABELS}' of mnist: .* none is known of this file; put"
    ):
        labels_of(data, "mnist", root)
    assert labels_of(data, "mnist", root, False).names == (0, 1, 2, 3, 4, 5)


def test_labels_that_are_let_in_are_a_part_of_what_is_classified(write: Write) -> None:
    root, found = write(), set()
    for labels in (0, 1):
        for path, number in ((LABELS, 6), (LABELS.replace("train", "t10k"), 2)):
            (root / path).write_bytes(idx(np.arange(labels, labels + number, dtype=np.uint8)))
        config = config_of(root, *RUN, "task=classify", verify=False)
        found.add(run_ids(config, "cpu", [0])[0])
    assert len(found) == 2


def test_a_table_that_is_not_known_is_a_part_of_the_identity(tmp_path: Path) -> None:
    file = tmp_path / "compas_scores_two_years.csv"
    run = ("target=binary_bnn", "target.tabular=compas", "sampler=dmala")
    found = set()
    for content in ("one", "two"):
        file.write_text(content)
        for verify in (True, False):
            found.add(run_ids(config_of(tmp_path, *run, verify=verify), "cpu", [0])[0])
    assert len(found) == 3
    assert refusal(*run, f"data.root={tmp_path}").startswith(f"data.verify=true refuses '{file}' of compas: ")


def test_a_file_is_hashed_once_for_many_jobs(write: Write) -> None:
    root = write()
    before = known_files._digests.cache_info().misses
    for _ in range(3):
        ids(root, verify=False)
    assert known_files._digests.cache_info().misses == before + len(CONTENT)
    write(train=FLIPPED)
    ids(root, verify=False)
    assert known_files._digests.cache_info().misses > before + len(CONTENT)


def test_verify_is_true_or_false() -> None:
    for run in (RUN, ("target=mog", "sampler=dmala")):
        said = refusal(*run, "data.verify=maybe")
        assert said == "data.verify must be true or false, 'maybe' was given."


def test_every_set_with_files_lists_what_is_known() -> None:
    for path in sorted((*(CONF / "dataset").glob("*.yaml"), *(CONF / "tabular").glob("*.yaml"))):
        spec = yaml.safe_load(path.read_text())
        if path.stem in ("digits", "breast_cancer", "caltech"):  # no file, or one that is always verified
            assert "sha256_of" not in spec
            continue
        named = {file for place in file_places(spec) for file in place.values()}
        named |= {file.replace("images-idx3", "labels-idx1") for file in named}
        assert set(spec["sha256_of"]) <= named
        for digests in spec["sha256_of"].values():
            assert digests
            assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)


@pytest.mark.data
@pytest.mark.skipif("DATA_ROOT" not in os.environ, reason="DATA_ROOT is not set")
def test_the_real_files_are_the_known_ones() -> None:
    for path in sorted((*(CONF / "dataset").glob("*.yaml"), *(CONF / "tabular").glob("*.yaml"))):
        spec = yaml.safe_load(path.read_text())
        known_files.check_known(path.stem, spec, os.environ["DATA_ROOT"])
