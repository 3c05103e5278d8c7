"""What other processes noted of their work in the locks of the runs that they compute."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from runner.execution.reached import Reached
from runner.files.lock_holders import holder
from runner.files.locks import Lock
from runner.store.run_folder import RunFolder
from runner.store.under_way import UnderWay, grouped_by_process, note, under_way, works_of_others
from tests.support.commands import FORK

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


@pytest.fixture
def runs(tmp_path: Path) -> list[RunFolder]:
    folders = [RunFolder(tmp_path / name) for name in ("one", "two", "three")]
    for folder in folders:
        folder.prepare()
    return folders


def test_the_work_of_another_process_is_read_once_for_all_of_its_runs(runs: list[RunFolder]) -> None:
    one, _, three = runs
    process = held_by_another([one.lock.path, three.lock.path], WORK)
    try:
        found = under_way(three.lock.path)
        assert found is not None
        assert (found.who.pid, found.work, found.left) == (process.pid, WORK, 700.0)
        (group,) = grouped_by_process(runs)
        assert (group.process.work, group.runs) == (WORK, [one, three])
        assert str(group.process).startswith("learning: 620 of 2,000, about 11 min 40 s left (process ")
        assert works_of_others(runs) == [WORK]
    finally:
        process.kill()
        process.join()
    assert (under_way(one.lock.path), works_of_others(runs)) == (None, []), "it died with its lock"
    assert holder(one.lock.path) is not None


def test_the_note_of_a_finished_run_is_old(runs: list[RunFolder]) -> None:
    """A process goes on with other runs of its job, and a sweep said for minutes that 3 s were left."""
    one, _, three = runs
    process = held_by_another([one.lock.path, three.lock.path], WORK)
    try:
        (one.path / "summary.json").write_text("{}")
        assert works_of_others(runs) == [WORK], "of the run that is left"
        (three.path / "summary.json").write_text("{}")
        assert works_of_others(runs) == []
    finally:
        process.kill()
        process.join()


def test_the_process_with_the_most_left_comes_first(runs: list[RunFolder]) -> None:
    works = [WORK, None, Reached("annealing", 1, 9, 900.0)]
    started = [held_by_another([run.lock.path], work) for run, work in zip(runs, works, strict=True)]
    try:
        assert [group.runs[0] for group in grouped_by_process(runs)] == [runs[1], runs[2], runs[0]]
        assert works_of_others(runs) == [works[2], works[0]]
    finally:
        for process in started:
            process.kill()
            process.join()


def test_a_process_that_has_said_nothing_yet_is_under_way(tmp_path: Path) -> None:
    process = held_by_another([tmp_path / "one"], None)
    try:
        found = under_way(tmp_path / "one")
        assert found is not None
        assert found.work is None
        assert str(found).startswith("has begun (process ")
    finally:
        process.kill()
        process.join()


def test_own_work_is_not_that_of_others_and_ends_with_the_lock(runs: list[RunFolder]) -> None:
    lock = runs[0].lock
    assert lock.take()
    note([lock], WORK)
    note([lock], Reached("annealing", 1, 9))
    found = under_way(lock.path)
    assert found is not None
    assert (found.who.pid, found.work) == (os.getpid(), Reached("annealing", 1, 9))
    assert works_of_others(runs) == []
    size = lock.path.stat().st_size
    note([lock], WORK)
    note([lock], Reached("x" * 5000, 1, 9))
    assert under_way(lock.path) == UnderWay(found.who, WORK), "a note that is too long is left out"
    assert lock.path.stat().st_size == size, "a reader never finds the file cut short"
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
    lock.release()


def test_a_process_does_not_probe_its_own_locks(
    runs: list[RunFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runs[0].lock.take()
    monkeypatch.setattr(fcntl, "flock", None)
    assert len(grouped_by_process(runs)) == 1
    monkeypatch.undo()
    runs[0].lock.release()
