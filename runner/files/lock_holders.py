"""Who has a lock, asked without taking it."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LEASE_SECONDS = 120.0
"""The heartbeat comes three times in it, and a client of NFS may see it 60 s late."""

HEARTBEAT = ".heartbeat"

ANOTHER = "another process"


@dataclass(frozen=True)
class Holder:
    """Who holds a lock, or held it when it died: host, process id, and since when."""

    host: str
    pid: int
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since}"


def holder(path: Path) -> Holder | None:
    """Who holds a lock or left it without giving it back; None if nobody, or nobody who signed."""
    return signed_by(noted(path))


def signed_by(content: Mapping[str, Any]) -> Holder | None:
    """Who wrote the `content` of a lock's file; None if nobody signed it."""
    try:
        return Holder(str(content["host"]), int(content["pid"]), str(content["since"]))
    except (ValueError, TypeError, KeyError):
        return None


def noted(path: Path) -> dict[str, Any]:
    """What the holder of a lock wrote into its file: who it is, and what of its work; empty if nothing."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def waited_for(path: Path, unsigned: str = ANOTHER) -> str:
    """``process 12 on node3 since 2026-01-02T03:04:05+00:00``; `unsigned` where the lock names nobody."""
    return str(holder(path) or unsigned)


def is_held(path: Path) -> bool:
    """Whether a process has this lock, by the kernel or by a heartbeat that goes on."""
    return _is_flocked(path) or _beats(path) is True


def is_abandoned(path: Path) -> bool:
    """Whether the lock has a heartbeat that has stopped, as far as the clocks tell.

    The clocks of this host and of the file server decide: they should differ by less than `LEASE_SECONDS`.
    Who takes such a lock over (`locks.take_abandoned`) first sees the heartbeat stand still.
    """
    return _beats(path) is False and not _is_flocked(path)


def seconds_ahead(path: Path) -> float:
    """How far the last heartbeat lies in this host's future, if by more than clocks may differ; else 0."""
    silent = _silence(path)
    return -silent if silent is not None and silent < -LEASE_SECONDS else 0.0


def heartbeat(path: Path) -> Path:
    """The file beside a lock whose time is its last sign of life, where there is no `flock`."""
    return path.with_name(f"{path.name}{HEARTBEAT}")


def _silence(path: Path) -> float | None:
    """Seconds since the last heartbeat of the lock; None where there is none."""
    try:
        return time.time() - heartbeat(path).stat().st_mtime
    except OSError:
        return None


def _beats(path: Path) -> bool | None:
    """Whether the heartbeat of the lock goes on; None where there is none.

    One that is far in the future says nothing until the clock has caught up with it: then it goes on only
    where its process is known to live.
    """
    silent = _silence(path)
    if silent is None:
        return None
    alive = _is_alive(path)
    return alive is not False and silent < LEASE_SECONDS and (alive is True or not seconds_ahead(path))


def _is_alive(path: Path) -> bool | None:
    """Whether the holder is a process of this host that runs, or has ended; None: of another host."""
    who = holder(path)
    if who is None or who.host != platform.node():
        return None
    try:
        os.kill(who.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return None
    return True


def _is_flocked(path: Path) -> bool:
    """Whether a process has locked it by `flock`. A shared lock asks: two who ask do not see each other."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False  # without `flock` nobody holds it
    finally:
        os.close(descriptor)
    return False
