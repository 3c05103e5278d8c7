"""Locks say who holds them; without `flock` they have a heartbeat, and a crashed holder's is taken over."""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import threading
import time
from pathlib import Path

import pytest

from runner.execution.errors import UserError
from runner.files import lock_holders, locks
from runner.files.lock_holders import holder, is_abandoned, is_held
from runner.files.locks import Lock, LockLostError, held, take_abandoned
from tests.robustness.shims.no_flock import crashed_elsewhere, refuse_flock
from tests.support.commands import FORK

CRASHED = "process 12 on node3 since 2026-01-02T03:04:05+00:00"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock's file, where a second without a heartbeat is long."""
    monkeypatch.setattr(lock_holders, "LEASE_SECONDS", 0.6)
    monkeypatch.setattr(locks, "PATIENCE_SECONDS", 0.1)
    return tmp_path / "lock"


@pytest.fixture(params=["flock", "no flock"])
def either(request: pytest.FixtureRequest, path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`path` on both kinds of file systems."""
    if request.param == "no flock":
        refuse_flock(monkeypatch)
    return path


def test_a_lock_has_one_holder_and_says_who(either: Path) -> None:
    mine, other = Lock(either), Lock(either)
    assert not is_held(either)
    assert mine.take()
    who = holder(either)
    assert who is not None
    assert (who.host, who.pid) == (platform.node(), os.getpid())
    assert not other.take(0.8), "a heartbeat keeps the lock for longer than its time"
    assert is_held(either)
    assert not is_abandoned(either)
    mine.require()
    mine.release()
    assert (is_held(either), holder(either)) == (False, None)
    assert other.take()
    other.release()


def test_who_waits_says_once_for_whom_also_when_the_lock_is_given_back_meanwhile(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A holder takes its name out, then gives the lock back; who looks in between sees a lock of nobody."""
    first = Lock(path)
    assert first.take()
    who = holder(path)
    looks = iter([lambda: None, lambda: first._sign(None), first.release])

    def look(lock: Lock, seconds: float = 0.0) -> bool:
        next(looks, lambda: None)()
        return take(lock, 0.0)

    take = Lock.take
    monkeypatch.setattr(Lock, "take", look)
    with held(path):
        assert next(looks, None) is None
    assert capsys.readouterr().err == f"warning: waiting for {who}, which holds {path}.\n"


def flock() -> bool:
    """Whether there is `flock` in this test: the stand-in for it is written in Python."""
    return not hasattr(fcntl.flock, "__code__")


def hold(path: Path) -> None:
    assert Lock(path).take()
    time.sleep(60)


def wait_until_held(path: Path) -> None:
    while not (is_held(path) and holder(path)):
        time.sleep(0.01)


def test_a_killed_process_of_this_host_is_followed_at_once(
    either: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    process = FORK.Process(target=hold, args=(either,))
    process.start()
    wait_until_held(either)
    process.kill()
    process.join()
    lock = Lock(either)
    assert lock.take(0.5)
    lock.release()
    said = capsys.readouterr().err
    whom = f"process {process.pid} on {platform.node()} since "
    # The kernel ends a lock of its own, without a word.
    assert (f"{either} was taken over from {whom}" in said) == (not flock())


def test_a_crash_on_another_host_is_taken_over_after_the_stated_time(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refuse_flock(monkeypatch)
    crashed_elsewhere(path, seconds_ago=0.2)
    assert (is_held(path), is_abandoned(path)) == (True, False)
    crashed_elsewhere(path, seconds_ago=10)
    assert (is_held(path), is_abandoned(path)) == (False, True)
    lock = Lock(path)
    assert not lock.take(), "its clock may be wrong: the heartbeat must be seen to stand still"
    assert list(take_abandoned([lock])) == [lock]
    assert capsys.readouterr().err.splitlines() == [
        f"warning: waiting for {CRASHED}, which holds {path} and seems to have crashed; it is taken over "
        "after 1 s without a sign of life.",
        f"warning: {path} was taken over from {CRASHED}, which has crashed or gives no sign of life.",
    ]
    assert Lock(path).take() is False
    lock.release()


def test_a_crash_under_a_clock_that_is_ahead_is_taken_over_once_it_is_seen(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The heartbeat of a holder that lives stands in the future, too: only watching it tells them apart."""
    refuse_flock(monkeypatch)
    crashed_elsewhere(path, seconds_ago=-0.2)
    assert (is_held(path), is_abandoned(path)) == (True, False)
    crashed_elsewhere(path, seconds_ago=-3600)
    assert (is_held(path), is_abandoned(path)) == (False, True)
    lock = Lock(path)
    assert not lock.take()
    assert list(take_abandoned([lock])) == [lock]
    assert capsys.readouterr().err.splitlines()[0] == (
        f"warning: waiting for {CRASHED}, which holds {path} and may have crashed: its heartbeat is dated "
        "3,600 s ahead of this host's clock; it is taken over after 1 s without a sign of life."
    )
    lock.release()


def test_a_holder_that_lives_keeps_its_lock_under_a_clock_that_is_ahead(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_flock(monkeypatch)
    beat = path.with_name(f"{path.name}{lock_holders.HEARTBEAT}")
    crashed_elsewhere(path, seconds_ago=-3600)
    ended = threading.Event()

    def beating() -> None:
        while not ended.wait(0.05):
            at = time.time() + 3600
            os.utime(beat, (at, at))

    thread = threading.Thread(target=beating)
    thread.start()
    try:
        assert list(take_abandoned([Lock(path)])) == []
    finally:
        ended.set()
        thread.join()
    crashed_elsewhere(path, seconds_ago=-3600, host=platform.node(), pid=os.getpid())
    assert (is_held(path), is_abandoned(path)) == (True, False), "a process of this host is known to live"


def test_who_waits_says_for_whom(either: Path, capsys: pytest.CaptureFixture[str]) -> None:
    process = FORK.Process(target=hold, args=(either,))
    process.start()
    wait_until_held(either)
    said = f"warning: waiting for {holder(either)}, which holds {either}.\n"
    killer = threading.Timer(0.5, process.kill)
    killer.start()
    with held(either):
        assert not process.is_alive()
    assert capsys.readouterr().err.startswith(said)


def test_a_holder_that_was_silent_for_too_long_writes_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_flock(monkeypatch)
    lock = Lock(path)
    assert lock.take()
    path.with_name(f"{path.name}{lock_holders.HEARTBEAT}").unlink()
    crashed_elsewhere(path, seconds_ago=0)
    until = time.monotonic() + 10
    while not lock.lost and time.monotonic() < until:
        time.sleep(0.05)
    with pytest.raises(
        LockLostError, match=r"taken over after 1 s in which this process gave no sign of life"
    ):
        lock.require()
    lock.release()
    assert str(holder(path)) == CRASHED


def test_a_lock_whose_folder_was_removed_is_lost(path: Path) -> None:
    lock = Lock(path)
    assert lock.take()
    path.unlink()
    with pytest.raises(LockLostError, match="was removed while this process held it"):
        lock.require()
    lock.release()


def test_no_locks_available_names_the_folder_and_what_to_do(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks.require_locks(path.parent)
    refuse_flock(monkeypatch, errno.ENOLCK)
    for ask in (lambda: Lock(path).take(), lambda: locks.require_locks(path.parent)):
        with pytest.raises(
            UserError, match="set output_root to a folder of another file system, or "
        ) as error:
            ask()
        assert str(error.value).startswith(f"No locks are available in {path.parent}: ")
