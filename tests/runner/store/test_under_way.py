"""What other processes noted of their work in the locks of the runs that they compute."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from runner.execution.reached import Reached
from runner.files.lock_holders import holder
from runner.files.locks import Lock
from runner.store.under_way import note, under_way, works_of_others

FORK = multiprocessing.get_context("fork")
WORK = Reached("learning", 620, 2000, 700.0)


def hold(paths: list[Path], work: Reached | None) -> None:
    locks = [Lock(path) for path in paths]
    assert all(lock.take() for lock in locks)
    if work is not None:
        note(locks, work)
    paths[0].with_name("ready").touch()
    time.sleep(60)


def held_by_another(paths: list[Path], work: Reached | None) -> multiprocessing.Process:
    process = FORK.Process(target=hold, args=(paths, work))
    process.start()
    while not paths[0].with_name("ready").exists():
        time.sleep(0.01)
    return process


def test_the_work_of_another_process_is_read_once_for_all_of_its_runs(tmp_path: Path) -> None:
    paths = [tmp_path / "one", tmp_path / "two"]
    process = held_by_another(paths, WORK)
    try:
        found = under_way(paths[1])
        assert found is not None
        assert (found.who.pid, found.work) == (process.pid, WORK)
        assert works_of_others([*paths, tmp_path / "missing"]) == [WORK]
    finally:
        process.kill()
        process.join()
    assert (under_way(paths[0]), works_of_others(paths)) == (None, []), "it died with its lock"
    assert holder(paths[0]) is not None


def test_a_process_that_has_said_nothing_yet_is_under_way(tmp_path: Path) -> None:
    process = held_by_another([tmp_path / "one"], None)
    try:
        found = under_way(tmp_path / "one")
        assert found is not None
        assert found.work is None
        assert works_of_others([tmp_path / "one"]) == []
    finally:
        process.kill()
        process.join()


def test_own_work_is_not_that_of_others_and_ends_with_the_lock(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "one")
    assert lock.take()
    note([lock], WORK)
    note([lock], Reached("annealing", 1, 9))
    found = under_way(lock.path)
    assert found is not None
    assert (found.who.pid, found.work) == (os.getpid(), Reached("annealing", 1, 9))
    assert works_of_others([lock.path]) == []
    lock.release()
    assert under_way(lock.path) is None
    note([lock], WORK)
    assert lock.path.read_bytes() == b""


def test_a_lost_lock_is_not_written_to(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "one")
    assert lock.take()
    lock.path.unlink()
    lock.path.write_text("of another process")
    note([lock], WORK)
    assert lock.path.read_text() == "of another process"


@pytest.mark.parametrize(
    "said", ["", "{", "[1]", '{"host": "h", "pid": 1}', '{"host": "h", "pid": 1, "since": "s", "step": "x"}']
)
def test_what_cannot_be_read_says_nothing(said: str, tmp_path: Path) -> None:
    lock = Lock(tmp_path / "one")
    assert lock.take()
    lock.path.write_text(said)
    found = under_way(lock.path)
    assert found is None or found.work is None
    assert works_of_others([lock.path]) == []
    lock.release()
