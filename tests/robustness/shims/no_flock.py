"""File systems without `flock`, or without a lock service, and what a crash on another host leaves there."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from pathlib import Path

import pytest

from runner.files import lock_holders


def refuse_flock(monkeypatch: pytest.MonkeyPatch, number: int = errno.ENOSYS) -> None:
    """Lets every `flock` of this process, and of those that it forks, fail with this error."""

    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)


def crashed_elsewhere(lock: Path, *, seconds_ago: float, host: str = "node3", pid: int = 12) -> None:
    """Leaves a lock with the last heartbeat of a process of another host, as it is without `flock`."""
    heartbeat = lock.with_name(f"{lock.name}{lock_holders.HEARTBEAT}")
    lines = (
        f"pid={pid}",
        f"host={host}",
        "mode=lease",
        "token=0a",
        f"duration={lock_holders.LEASE_SECONDS!r}",
    )
    heartbeat.write_text("".join(f"{line}\n" for line in ("filelock/2", *lines)))
    lock.write_text(json.dumps({"host": host, "pid": pid, "since": "2026-01-02T03:04:05+00:00"}))
    at = time.time() - seconds_ago
    os.utime(heartbeat, (at, at))
