"""Files are whole or absent, and garbage in a run folder costs a warning and nothing else."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
from pathlib import Path

import pytest
import torch

from runner.__main__ import main
from runner.execution.storage_errors import StorageError
from runner.files.atomic_files import (
    read_json,
    remove_partial,
    set_aside,
    write_bytes,
    write_json,
)
from runner.files.checkpoint import UnusableCheckpointError, load_checkpoint, save_checkpoint
from runner.integrity.file_digest import BLANK, KEY, with_own_digest
from runner.store.run_store import Store
from tests.support.commands import SMALL, Call


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "summary.json"
    write_json(path, {"value": 1})
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(StorageError, match=r"No space is left on the disk to write .*summary.json"):
        write_json(path, {"value": 2})
    assert [each.name for each in tmp_path.iterdir()] == ["summary.json"]
    assert read_json(path) == {"value": 1}


def test_an_interrupted_write_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "file", b"new")
    assert list(tmp_path.iterdir()) == []


def test_remains_of_killed_writers_are_removed(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.pt.123.partial").write_bytes(b"half")
    (tmp_path / "checkpoint.pt").write_bytes(b"whole")
    remove_partial(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["checkpoint.pt"]


def test_what_is_set_aside_is_never_overwritten(tmp_path: Path) -> None:
    for content in ("first", "second"):
        (tmp_path / "checkpoint.pt").write_text(content)
        set_aside(tmp_path / "checkpoint.pt")
    assert (tmp_path / "checkpoint.bad-1.pt").read_text() == "first"
    assert (tmp_path / "checkpoint.bad-2.pt").read_text() == "second"


def test_a_full_disk_ends_in_one_sentence(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", no_space)
        ended = call(*SMALL)
    assert ended.status == 1
    assert "No space is left on the disk" in ended.err
    assert "Traceback" not in ended.err
    assert not list(tmp_path.glob("outputs/runs/*/*.partial"))
    assert call(*SMALL).status == 0


def test_checkpoints_hold_tensors_and_load_without_code(tmp_path: Path) -> None:
    content = {"step": 3, "state": {"theta": torch.arange(6.0).reshape(2, 3).T, "grad": None}}
    save_checkpoint(tmp_path / "checkpoint.pt", content)
    found = load_checkpoint(tmp_path / "checkpoint.pt")
    assert found["step"] == 3
    assert found["state"]["theta"].stride() == content["state"]["theta"].stride()  # type: ignore[index]
    assert torch.equal(found["state"]["theta"], content["state"]["theta"])  # type: ignore[index]
    with pytest.raises(UnusableCheckpointError, match="truncated"):
        load_checkpoint(tmp_path / "absent.pt")


def foreign(**content: object) -> bytes:
    """A checkpoint with the digest of its content, whatever that is."""
    buffer = io.BytesIO()
    torch.save({"format": 1, **content}, buffer)
    return with_own_digest(json.dumps({KEY: BLANK, "sources": []}).encode() + b"\n" + buffer.getvalue())


GARBAGE: dict[str, bytes] = {
    "truncated": foreign(run_ids=[], noise=torch.zeros(1000))[:-100],
    "of other runs": foreign(run_ids=["0123456789abcdef"], step=3),
    "without runs": foreign(step=3),
    "of another format": foreign(format=0),
    "with code in it": foreign(path=Path("/")),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a run."""
    root = tmp_path_factory.mktemp("finished") / "outputs"
    assert main([*SMALL, f"output_root={root}"]) == 0
    return root


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """The folder of the run, which may be damaged, in ``outputs``."""
    (path,) = (shutil.copytree(finished, tmp_path / "outputs") / "runs").iterdir()
    return path


def status(run: Path) -> str:
    return Store(run.parents[1]).run(run.name).status()


@pytest.mark.parametrize("kind", GARBAGE)
def test_an_unusable_checkpoint_is_set_aside(call: Call, run: Path, kind: str) -> None:
    expected = (run / "metrics.csv").read_text().split(",")
    (run / "summary.json").unlink()
    (run / "checkpoint.pt").write_bytes(GARBAGE[kind])
    ended = call(*SMALL)
    assert ended.status == 0
    (warning,) = ended.err.splitlines()
    assert warning.startswith("warning: the checkpoint ")
    assert "the work starts from the beginning" in warning
    assert (run / "checkpoint.bad-1.pt").read_bytes() == GARBAGE[kind]
    assert not (run / "checkpoint.pt").exists()
    assert (run / "metrics.csv").read_text().split(",")[-1] == expected[-1]


def test_a_checkpoint_of_the_same_run_that_does_not_fit(call: Call, run: Path) -> None:
    (run / "summary.json").unlink()
    (run / "checkpoint.pt").write_bytes(foreign(run_ids=[run.name], step=3, state={}))
    ended = call(*SMALL)
    assert (ended.status, status(run)) == (0, "done")
    assert "holds the state of another kernel" in ended.err


@pytest.mark.parametrize(
    "name", ["summary.json", "manifest.json", "config.yaml", "failure.json", "metrics.csv"]
)
def test_garbage_in_a_run_folder_is_no_obstacle(call: Call, run: Path, name: str) -> None:
    (run / "summary.json").unlink()
    (run / name).write_bytes(b"\x00\xff garbage")
    ended = call(*SMALL)
    assert (ended.status, status(run)) == (0, "done"), ended.err
    if name == "summary.json":
        assert "is damaged (summary.json)" in ended.err
        assert (run / "damaged-1" / "summary.json").read_bytes() == b"\x00\xff garbage"


def test_a_file_where_the_run_folder_should_be(call: Call, run: Path) -> None:
    shutil.rmtree(run)
    run.write_text("mine")
    ended = call(*SMALL)
    assert ended.status == 0, ended.err
    assert "should be a folder" in ended.err
    assert run.with_name(f"{run.name}.bad-1").read_text() == "mine"
