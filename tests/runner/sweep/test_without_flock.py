"""Sweeps on file systems without `flock`, and on those that give out no locks."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from runner import status
from runner.files import lock_holders
from runner.store.run_store import Store
from tests.robustness.shims.no_flock import crashed_elsewhere, refuse_flock
from tests.support.commands import Call, rows

SMALL = ("target=bernoulli4", "sampler=gibbs", "metric=tv", "task.steps=20", "task.chains=3", "seed=[0,1]")


def folders() -> list[Path]:
    return sorted(Path("outputs/runs").glob("*/lock"))


def test_the_numbers_are_the_same_and_nothing_is_left_of_the_locks(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call(*SMALL, "output_root=flock").status == 0
    refuse_flock(monkeypatch)
    ended = call(*SMALL)
    assert (ended.status, ended.err) == (0, "")
    assert rows() == rows("flock")
    assert [lock_holders.holder(lock) for lock in folders()] == [None, None]
    assert not list(Path("outputs").rglob(f"*{lock_holders.HEARTBEAT}"))


def test_the_runs_of_a_crashed_host_are_taken_over(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_holders, "LEASE_SECONDS", 0.6)
    refuse_flock(monkeypatch)
    assert call(*SMALL).status == 0
    expected = rows()
    for lock in folders():
        (lock.parent / "summary.json").unlink()
        crashed_elsewhere(lock, seconds_ago=60)
        assert Store("outputs").run(lock.parent.name).status() == "abandoned"
    ended = call("-m", *SMALL)
    assert ended.status == 0
    assert ended.out.endswith("\n2 runs done.\n")
    assert len(re.findall("was taken over from process 12 on node3 since 2026", ended.err)) == 2
    assert rows() == expected


def test_status_tells_running_from_abandoned(
    call: Call, tiny: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = [tiny, "scale=smoke", "target=bernoulli4", "sampler=gibbs"]
    refuse_flock(monkeypatch)
    assert call("-m", "+experiment=tiny", *argv).status == 0
    for lock, seconds in zip(folders(), (1, 1000), strict=True):
        (lock.parent / "summary.json").unlink()
        crashed_elsewhere(lock, seconds_ago=seconds)
    capsys.readouterr()
    assert status.main(["tiny", *argv]) == 0
    said = capsys.readouterr().out
    assert re.search(r"running\W+abandoned", said)
    total = next(line for line in said.splitlines() if line.startswith("│ all"))
    assert [int(number) for number in re.findall(r"\d+", total)] == [0, 1, 1]
    assert "1 run is left" in said


def test_no_locks_available_is_refused_before_any_work(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_flock(monkeypatch, errno.ENOLCK)
    ended = call("-m", *SMALL)
    assert ended.status == 2
    assert ended.err.startswith(
        "error: No locks are available in outputs: the lock service of its file system "
    )
    assert not [path for path in Path("outputs").rglob("*") if path.is_file()]
