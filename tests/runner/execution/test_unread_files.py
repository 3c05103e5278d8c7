"""What the disk or the memory does not give now is no damage: nothing is moved or computed again."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from runner import status, table, verify
from runner.execution.storage_errors import StorageError
from runner.files.atomic_files import read_json, write_json
from runner.files.checkpoint import save_checkpoint
from runner.files.resumable import SavePlan, run_to_end
from runner.files.tensor_files import UnreadableTensorsError, read_tensors, write_tensors
from runner.site.index.run_entry import run_entry_of
from runner.store.run_folder import RunFolder
from tests.support.commands import Call, one

NUMBERS = (errno.EIO, errno.ESTALE, errno.EACCES, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
RUN = ("target=bernoulli4", "sampler=gibbs", "metric=tv", "task.steps=20", "task.chains=3")
SWEEP = tuple(line for line in RUN if line != "sampler=gibbs")


class Count:
    """Work of three blocks; `refuses` is raised where a state is restored."""

    title, total = "count", 3

    def __init__(self, refuses: Exception | None = None) -> None:
        self.position, self.refuses = 0, refuses

    @property
    def done(self) -> bool:
        return self.position == self.total

    def advance(self) -> None:
        self.position += 1

    def state_dict(self) -> dict[str, Any]:
        return {"position": self.position}

    def load_state_dict(self, saved: Mapping[str, Any], /) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.position = int(saved["position"])


def refuse(patch: pytest.MonkeyPatch, name: str, error: Exception) -> None:
    """Lets every reading of a file of this name raise `error`."""
    read = Path.read_bytes

    def refused(path: Path) -> bytes:
        if path.name == name:
            raise error
        return read(path)

    patch.setattr(Path, "read_bytes", refused)


def disk(number: int) -> OSError:
    return OSError(number, os.strerror(number))


@pytest.mark.parametrize("error", [*map(disk, NUMBERS), MemoryError()], ids=repr)
def test_a_checkpoint_that_cannot_be_read_now_stays(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "checkpoint.pt"
    save_checkpoint(path, {"position": 2})
    with monkeypatch.context() as patched:
        refuse(patched, path.name, error)
        with pytest.raises((StorageError, MemoryError)):
            run_to_end(Count, SavePlan(path, 1.0))
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        disk(errno.EIO),
        torch.cuda.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
    ],
    ids=repr,
)
def test_a_state_that_there_is_no_room_for_now_stays(error: Exception, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.pt"
    save_checkpoint(path, {"position": 2})
    with pytest.raises(type(error)):
        run_to_end(lambda: Count(error), SavePlan(path, 1.0))
    assert os.listdir(tmp_path) == [path.name]
    assert run_to_end(Count, SavePlan(path, 1.0)).position == 3


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("name", ["summary.json", "metrics.csv"])
def test_a_finished_run_that_cannot_be_read_now_stays_finished(
    name: str, number: int, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = (*RUN, f"output_root={tmp_path}")
    assert call(*given).status == 0
    folder = RunFolder(one("runs/*", tmp_path))
    files = sorted(os.listdir(folder.path))
    with monkeypatch.context() as patched:
        refuse(patched, name, disk(number))
        with pytest.raises(StorageError, match=f"read.*{name}|{name} cannot be read"):
            folder.set_damaged_aside()
        ended = call(*given)
    assert ended.status == 1
    assert f"{folder.path / name}" in ended.err + ended.out
    assert "Traceback" not in ended.err
    assert sorted(os.listdir(folder.path)) == files
    assert folder.status() == "done"


def test_what_is_not_there_or_no_file_is_none(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    assert read_json(path) is None
    assert read_json(path / "inside") is None
    path.mkdir()
    assert read_json(path) is None
    write_json(tmp_path / "file.json", {"a": 1})
    assert read_json(tmp_path / "file.json" / "inside") is None


def test_tensors_that_cannot_be_read_now_are_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.safetensors"
    with pytest.raises(UnreadableTensorsError):
        read_tensors(path)
    write_tensors(path, {"weight": torch.ones(2)}, {})
    refuse(monkeypatch, path.name, disk(errno.EMFILE))
    with pytest.raises(StorageError, match="Too many open files"):
        read_tensors(path)


def test_what_cannot_be_read_is_listed_where_all_files_are_checked(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A failing disk shows so."""
    assert call(*RUN, f"output_root={tmp_path}").status == 0
    refuse(monkeypatch, "metrics.csv", disk(errno.EIO))
    assert verify.main([f"output_root={tmp_path}"]) == 1
    assert "metrics.csv" in capsys.readouterr().out


@pytest.fixture
def refused(tmp_path: Path, call: Call) -> RunFolder:
    """The first of two finished runs, whose summary is now a link to itself, which nobody can read."""
    assert call("-m", *SWEEP, "sampler=gibbs,dmala", f"output_root={tmp_path}").status == 0
    folder = next(RunFolder(path) for path in sorted(tmp_path.glob("runs/*")))
    summary = folder.path / "summary.json"
    summary.rename(folder.path / "kept")
    summary.symlink_to(summary)
    return folder


def test_a_run_that_cannot_be_read_now_stops_no_other_of_its_sweep(
    refused: RunFolder, tmp_path: Path, call: Call
) -> None:
    files = sorted(os.listdir(refused.path))
    ended = call("-m", *SWEEP, "sampler=gibbs,dmala,gwg", f"output_root={tmp_path}")
    assert ended.status == 1
    assert "1 run done, 1 skipped (done before), 1 failed." in ended.out
    assert f"{refused.path / 'summary.json'} cannot be read" in ended.err
    assert sorted(os.listdir(refused.path)) == files


def test_readers_leave_out_what_cannot_be_read_now_and_say_so(
    refused: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = sorted(os.listdir(refused.path))
    for module in (table, status):
        capsys.readouterr()
        assert module.main(["runs", f"output_root={tmp_path}"]) == 0
        said = capsys.readouterr().out
        assert f"1 run cannot be read now and is left out, {refused.path}: " in said
        assert "damaged" not in said
    assert "unreadable" in said
    assert sorted(os.listdir(refused.path)) == files
    assert refused.status() == "unreadable"
    assert run_entry_of(refused, "").about["why"].startswith("1 run cannot be read now")
