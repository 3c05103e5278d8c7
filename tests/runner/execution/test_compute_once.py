"""Made once under a lock: by one process of several, again where it is damaged or its maker was killed."""

from __future__ import annotations

import json
import os
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from runner.files.atomic_files import read_json, write_json
from runner.files.compute_once import compute_once, discard_damaged
from tests.support.commands import FORK


def read(path: Path, *, locked: bool = False) -> dict[str, Any] | None:
    found = read_json(path)
    if found is None and path.exists():
        discard_damaged(path, "it is no JSON", locked=locked)
    return found


def make(path: Path, seconds: float = 0.0) -> None:
    with path.with_suffix(".makers").open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(seconds)
    write_json(path, {"maker": os.getpid()})


def ask(path: Path, seconds: float = 0.0) -> dict[str, Any]:
    return compute_once(path.with_suffix(".lock"), partial(read, path), partial(make, path, seconds))


def asked(path: Path, answer: Path) -> None:
    answer.write_text(json.dumps(ask(path, 0.3)))


def makers(path: Path) -> list[str]:
    return path.with_suffix(".makers").read_text().split()


def test_several_processes_make_it_once_and_read_the_same(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "result.json"
    processes = [FORK.Process(target=asked, args=(path, tmp_path / f"{n}.txt")) for n in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    answers = {(tmp_path / f"{n}.txt").read_text() for n in range(4)}
    assert [json.dumps({"maker": int(maker)}) for maker in makers(path)] == list(answers)


def test_what_is_there_is_read_without_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_json(path, {"maker": 0})
    with FileLock(path.with_suffix(".lock")):
        process = FORK.Process(target=asked, args=(path, tmp_path / "answer.txt"))
        process.start()
        process.join(60)
        assert process.exitcode == 0, "it waited for the lock"
    assert not path.with_suffix(".makers").exists()


def test_a_maker_that_is_killed_is_followed_by_another(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    process = FORK.Process(target=ask, args=(path, 60.0))
    process.start()
    while not (path.with_suffix(".makers").exists() and makers(path)):
        time.sleep(0.01)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert ask(path) == {"maker": os.getpid()}
    assert len(makers(path)) == 2


def test_garbage_is_set_aside_once_and_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "result.json"
    path.write_text("{")
    assert ask(path) == ask(path) == {"maker": os.getpid()}
    (warning,) = capsys.readouterr().err.splitlines()
    assert warning == (
        f"warning: {path} cannot be read (it is no JSON); it was moved to {tmp_path / 'result.bad-1.json'} "
        "and is made again."
    )
    assert (tmp_path / "result.bad-1.json").read_text() == "{"
    assert len(makers(path)) == 1


def test_garbage_stays_where_another_process_holds_the_lock(tmp_path: Path) -> None:
    """It may be about to replace it: whoever waits finds the whole file."""
    path = tmp_path / "result.json"
    path.write_text("{")
    with FileLock(path.with_suffix(".lock")):
        process = FORK.Process(target=asked, args=(path, tmp_path / "answer.txt"))
        process.start()
        time.sleep(0.3)
        assert path.read_text() == "{"
        write_json(path, {"maker": 0})
    process.join(60)
    assert json.loads((tmp_path / "answer.txt").read_text()) == {"maker": 0}
    assert not list(tmp_path.glob("*.bad-*"))


def test_a_failure_leaves_nothing_and_the_next_one_makes_it(tmp_path: Path) -> None:
    path = tmp_path / "result.json"

    def fail() -> None:
        raise ValueError("no such data")

    with pytest.raises(ValueError, match="no such data"):
        compute_once(path.with_suffix(".lock"), partial(read, path), fail)
    assert ask(path) == {"maker": os.getpid()}


def test_a_maker_that_writes_nothing_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="could not be read"):
        compute_once(tmp_path / "lock", lambda *, locked=False: None, lambda: None)
