"""A disk that is full, read-only, stale or removed ends a sweep in one sentence, and nothing is lost."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runner.execution.command_line import reported
from runner.execution.errors import RunError, reason
from runner.execution.storage_errors import StorageError, reading_refused, storage_error
from runner.files.atomic_files import read_json, write_bytes
from runner.files.checkpoint import UnusableCheckpointError, load_checkpoint, save_checkpoint
from runner.files.compute_once import compute_once
from runner.files.tensor_files import UnreadableTensorsError, read_tensors
from runner.models.trained_model import load_trained
from runner.store.run_folder import RunFolder
from runner.store.run_store import Store
from runner.tasks.sampled_runs import SampledRuns
from targets.datasets.files.places import one_line
from tests.robustness.shims.refusals import refuse_writes
from tests.support.commands import Call, finished, rows

SWEEP = (
    *("-m", "target=bernoulli4", "sampler=gibbs,dmala", "metric=tv", "task.steps=40", "task.chains=3"),
    *("checkpoint.steps=10", "seed=[0,1]"),
)

SAID = {
    errno.ENOSPC: "No space is left on the disk",
    errno.EDQUOT: "The disk quota is reached",
    errno.EROFS: "The file system is read-only",
    errno.ESTALE: "The file server no longer knows the folder (a stale file handle)",
    errno.EIO: "The disk reports an input/output error",
    errno.EFBIG: "The largest size that a file may have is reached (ulimit -f)",
    errno.EACCES: "Permission is missing",
    errno.EPERM: "The system does not permit this process",
    errno.EISDIR: "A file is needed in place of a folder",
}


@pytest.mark.parametrize("number", SAID)
def test_what_is_said_of_a_disk(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "summary.json"
    path.write_text("old")
    refuse_writes(tmp_path, number, after=0, patch=monkeypatch.setattr)
    with pytest.raises(StorageError) as error:
        write_bytes(path, b"new")
    when = "there is room" if number in (errno.ENOSPC, errno.EDQUOT) else "this is mended"
    assert str(error.value) == (
        f"{SAID[number]} to write {path}; nothing that was there is lost, repeat the command when {when}."
    )
    assert error.value.status == 1
    assert path.read_text() == "old"


def test_a_folder_that_was_removed_and_a_disk_without_inodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StorageError, match=rf"^The folder {tmp_path}/gone was removed to write "):
        write_bytes(tmp_path / "gone" / "file", b"")
    found = SimpleNamespace(f_files=10, f_ffree=0, f_bavail=5)
    monkeypatch.setattr(os, "statvfs", lambda _: found)
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert str(storage_error(full, tmp_path / "file")).startswith("No inode is left on the disk")


def test_a_folder_that_was_removed_and_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run makes it again between the writing and the renaming of this one's file."""
    path, replace = tmp_path / "runs" / "file", Path.replace
    path.parent.mkdir()

    def replaced(self: Path, target: Path) -> Path:
        shutil.rmtree(path.parent)
        path.parent.mkdir()
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", replaced)
    with pytest.raises(StorageError, match=rf"^The folder {path.parent} was removed to write {path};"):
        write_bytes(path, b"")


def test_other_errors_are_none_of_the_disk(tmp_path: Path) -> None:
    assert storage_error(ValueError("no")) is None
    assert storage_error(PermissionError(errno.EACCES, "of a socket")) is None
    assert storage_error(FileExistsError(errno.EEXIST, "made twice", str(tmp_path))) is None
    assert reading_refused(IsADirectoryError(errno.EISDIR, "no", "x"), tmp_path) is None, "its reader says so"
    assert storage_error(FileNotFoundError(errno.ENOENT, "no", str(tmp_path / "data.csv"))) is None


@pytest.mark.parametrize("read", [read_tensors, load_checkpoint])
def test_what_we_wrote_is_gone_with_its_folder(read: Callable[[Path], Any], tmp_path: Path) -> None:
    """So the work neither begins anew nor calls it damaged; other files may simply not be there."""
    path = tmp_path / "models" / "file"
    with pytest.raises(StorageError, match=rf"^{path} cannot be read: the folder {path.parent} was removed"):
        read(path)
    assert read_json(path) is None
    path.parent.mkdir()
    with pytest.raises((UnreadableTensorsError, UnusableCheckpointError)):
        read(path)


@pytest.mark.parametrize("name", ["artefacts", "models/0a"])
def test_a_file_in_place_of_a_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / name.split("/")[0]).touch()
    with pytest.raises((FileExistsError, NotADirectoryError)) as error:
        compute_once(tmp_path / name / "lock", lambda *, locked=False: None, lambda: None)
    said = str(storage_error(error.value))
    place = "a file" if "/" not in name else tmp_path / "models"
    assert said.startswith(f"A folder is needed in place of {place} to write {tmp_path / name}")
    assert said.count(f"{tmp_path / name}") == 1
    assert said.endswith("nothing that was there is lost, repeat the command when this is mended.")


def test_a_command_says_what_the_disk_refuses(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def command() -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(tmp_path / "table.csv"))

    assert reported(command) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: Permission is missing to read or write {tmp_path / 'table.csv'}; ")


@pytest.fixture(scope="module")
def peace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the sweep where nothing happens to it."""
    return finished(tmp_path_factory.mktemp("peace"), *SWEEP)


@pytest.mark.parametrize(("number", "after"), [(errno.ENOSPC, 9), (errno.EROFS, 40), (errno.ESTALE, 75)])
def test_a_disk_that_refuses_in_the_middle_of_a_sweep(
    number: int, after: int, peace: Path, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        refuse_writes(tmp_path / "outputs", number, after=after, patch=patched.setattr)
        ended = call(*SWEEP)
    assert ended.status == 1
    assert SAID[number] in ended.err
    assert "Traceback" not in ended.err
    assert "repeat: python -m runner " in ended.err
    assert " failed." in ended.out
    before = {path: path.read_bytes() for path in tmp_path.glob("outputs/runs/*/summary.json")}
    assert call(*SWEEP).status == 0
    assert rows() == rows(peace)
    assert {path: path.read_bytes() for path in before} == before
    assert not list(tmp_path.rglob("*.partial"))


def test_a_seed_that_is_written_is_done_where_a_later_one_is_not(
    peace: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish, calls = RunFolder.finish, list[int]()

    def refused(self: RunFolder, *arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        finish(self, *arguments)

    one_job = [word.replace("gibbs,dmala", "gibbs") for word in SWEEP]
    with monkeypatch.context() as patched:
        patched.setattr(RunFolder, "finish", refused)
        ended = call(*one_job)
    assert ended.status == 1
    assert ended.out.endswith("1 run done, 1 failed.\n")
    assert ended.err.rstrip().endswith(" seed=1")
    runs = [Store("outputs").run(path.name) for path in Path("outputs/runs").iterdir()]
    assert sorted(run.status() for run in runs) == ["done", "failed"]
    assert not any((run.path / "failure.json").exists() for run in runs if run.status() == "done")
    assert call(*one_job).out.endswith("1 run done, 1 skipped (done before).\n")
    assert set(rows()) < set(rows(peace))


def test_an_output_root_that_is_removed_in_the_middle(
    peace: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute, removed = SampledRuns.compute, list[int]()

    def computed(self: SampledRuns, *arguments: object) -> object:
        for result in compute(self, *arguments):  # type: ignore[arg-type]
            if not removed:
                shutil.rmtree("outputs")
                removed.append(1)
            yield result

    with monkeypatch.context() as patched:
        patched.setattr(SampledRuns, "compute", computed)
        ended = call(*SWEEP)
    assert ended.status == 1
    assert "was removed" in ended.err
    assert "Traceback" not in ended.err
    assert ended.out.endswith("2 runs done, 2 failed.\n")
    assert call(*SWEEP).out.endswith("2 runs done, 2 skipped (done before).\n")
    assert rows() == rows(peace)


def test_a_checkpoint_that_cannot_be_read_today_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "checkpoint.pt"
    save_checkpoint(path, {"step": 3})

    def stale(_: Path) -> bytes:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(path))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", stale)
        with pytest.raises(RunError, match="stale file handle"):
            load_checkpoint(path)
    assert load_checkpoint(path)["step"] == 3


def test_half_written_files_of_a_killed_maker_are_removed(tmp_path: Path) -> None:
    """Those of another lock in the same folder may be whole in a moment."""
    model, artefacts = tmp_path / "models" / "0a", tmp_path / "artefacts"
    for folder in (model, artefacts):
        folder.mkdir(parents=True)
    mine = [
        model / "model.safetensors.77.partial",
        model / "checkpoint.pt.77.partial",
        artefacts / "1b.json.77.partial",
    ]
    others = [model / "ground_truth-2c.safetensors.78.partial", artefacts / "3d.json.78.partial"]
    (model / "ground_truth-2c.lock").touch()
    (artefacts / "3d.lock").touch()
    for path in (*mine, *others):
        path.write_bytes(b"half")
    made: dict[Path, int] = {}
    for lock in (model / "lock", artefacts / "1b.lock"):
        compute_once(
            lock, lambda *, locked=False, lock=lock: made.get(lock), lambda lock=lock: made.update({lock: 1})
        )
    assert [path.exists() for path in mine] == [False] * 3
    assert [path.exists() for path in others] == [True] * 2


def test_a_sentence_that_names_a_file_names_it_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors of the system name it, too, and so do those of a model's file."""
    refused = PermissionError(errno.EACCES, "Permission denied", "images.npz")
    assert reason(refused) == one_line(refused) == "Permission denied"
    assert reason(ValueError("no\nnumber")) == one_line(ValueError("no\nnumber")) == "no number"
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"no tensors")
    assert load_trained(tmp_path, locked=True) is None
    said = capsys.readouterr().err
    assert said.startswith(f"warning: {path} cannot be read (it is truncated or no safetensors file); it was")
