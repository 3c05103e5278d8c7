"""Who has a lock, asked without taking it."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LEASE_SECONDS = 120.0
"""The heartbeat comes three times in it, and a client of NFS may see it 60 s late."""

HEARTBEAT = ".heartbeat"


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
    content = noted(path)
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


def waited_for(path: Path) -> str:
    """``process 12 on node3 since 2026-01-02T03:04:05+00:00``."""
    return str(holder(path) or "another process")


def is_held(path: Path) -> bool:
    """Whether a process has this lock, by the kernel or by a heartbeat of the last `LEASE_SECONDS`."""
    silent = _silence(path)
    return _is_flocked(path) or (silent is not None and silent < LEASE_SECONDS and not _is_dead(path))


def is_abandoned(path: Path) -> bool:
    """Whether the lock has a heartbeat that has stopped.

    The clocks of this host and of the file server decide: they should differ by less than `LEASE_SECONDS`.
    """
    silent = _silence(path)
    return silent is not None and (silent >= LEASE_SECONDS or _is_dead(path)) and not _is_flocked(path)


def heartbeat(path: Path) -> Path:
    """The file beside a lock whose time is its last sign of life, where there is no `flock`."""
    return path.with_name(f"{path.name}{HEARTBEAT}")


def _silence(path: Path) -> float | None:
    """Seconds since the last heartbeat of the lock; None where there is none."""
    try:
        return time.time() - heartbeat(path).stat().st_mtime
    except OSError:
        return None


def _is_dead(path: Path) -> bool:
    """Whether the holder was a process of this host that has ended."""
    who = holder(path)
    if who is None or who.host != platform.node():
        return False
    try:
        os.kill(who.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


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
