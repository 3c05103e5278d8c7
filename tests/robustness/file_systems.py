"""A sweep on a file system that fills, refuses or vanishes, or that has no `flock`.

Where this process may mount, full disks are real ones (tmpfs); elsewhere they are a shim, as the others are.
"""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from runner.files import lock_holders
from tests.robustness.shims.no_flock import refuse_flock
from tests.robustness.shims.refusals import refuse_writes
from tests.robustness.sweeps import RUNS, Command, Rows, Said, judged, undisturbed
from tests.robustness.trial import Trial

FULL, INODES, READ_ONLY = "disk full", "no inodes", "file system read-only"
STALE, REMOVED = "stale file handle", "output_root removed"
TWO, CRASHED = "no flock, two processes", "no flock, a holder that crashed on another host"
KINDS = (FULL, INODES, READ_ONLY, STALE, REMOVED, TWO, CRASHED)

WORDS = {
    FULL: ("No space is left", "No inode is left"),
    INODES: ("No inode is left", "No space is left"),
    READ_ONLY: ("read-only", "Read-only"),
    STALE: ("stale file handle", "Stale file handle"),
    REMOVED: ("was removed",),
}
"""What is said of such a disk by the command, or by the system where `output_root` itself cannot be made."""

PAGES = 70
"""A whole sweep needs that many pages of 4 KiB, and inodes, at most."""

WRITES = 250
"""File-system calls that change something, in a whole sweep, about."""


def trials(number: int, kind: str, seed: int = 0) -> Iterator[Trial]:
    """So many trials of a kind, another seed for other ones."""
    how = {FULL: _full, INODES: _full, READ_ONLY: _refused, STALE: _refused}
    how |= {REMOVED: _removed, TWO: _two_processes, CRASHED: _crashed}
    with tempfile.TemporaryDirectory() as folder:
        expected = undisturbed(Path(folder))
        for trial in range(seed, seed + number):
            place = Path(folder) / str(trial)
            place.mkdir()
            yield how[kind](kind, place, expected, random.Random(f"{kind} {trial}"))
            shutil.rmtree(place)


def _repeat(root: Path, folder: Path, before: Callable[[], object] = lambda: None) -> Callable[[], Said]:
    return lambda: Command(root, folder / "repeated", before).end()


def _full(kind: str, folder: Path, expected: Rows, chance: random.Random) -> Trial:
    """The sweep on a disk that has room for a random part of it, and again when it is larger."""
    if not may_mount():
        return _refused(kind, folder, expected, chance)
    room = chance.randint(4, PAGES)
    size = f"size={4 * room}k" if kind == FULL else f"nr_inodes={room}"
    with mounted(folder / "disk", size) as disk:
        said = Command(disk / "outputs", folder / "said").end()

        def repeat() -> Said:
            larger = "size=64m" if kind == FULL else "nr_inodes=10000"
            subprocess.run(["mount", "-o", f"remount,{larger}", disk], check=True)
            return _repeat(disk / "outputs", folder)()

        return judged(kind, disk / "outputs", expected, [said], repeat, WORDS[kind])


def _refused(kind: str, folder: Path, expected: Rows, chance: random.Random) -> Trial:
    """The sweep on a disk that refuses to write from a random call on."""
    number = {READ_ONLY: errno.EROFS, STALE: errno.ESTALE}.get(kind, errno.ENOSPC)
    root, last = folder / "outputs", chance.randint(0, WRITES)
    said = Command(root, folder / "said", lambda: refuse_writes(root, number, after=last)).end()
    repeat = _repeat(root, folder)
    return judged(f"{kind}, after {last} writes", root, expected, [said], repeat, WORDS[kind])


def _removed(kind: str, folder: Path, expected: Rows, chance: random.Random) -> Trial:
    """The sweep, whose output root is removed when a random number of runs is done."""
    root, number = folder / "outputs", chance.randint(0, RUNS - 1)
    command = Command(root, folder / "said")
    while command.process.is_alive() and len(list(root.glob("runs/*/summary.json"))) < number:
        time.sleep(0.001)
    time.sleep(chance.uniform(0, 0.05))
    shutil.rmtree(root, ignore_errors=True)
    return judged(kind, root, expected, [command.end()], _repeat(root, folder), WORDS[kind])


def _two_processes(kind: str, folder: Path, expected: Rows, chance: random.Random) -> Trial:
    """Two processes with one sweep where there is no `flock`; in half of the trials one of them is killed."""
    root = folder / "outputs"
    first = Command(root, folder / "first", without_flock)
    time.sleep(chance.uniform(0, 0.1))
    second = Command(root, folder / "second", without_flock)
    if chance.random() < 0.5:
        time.sleep(chance.uniform(0, 0.5))
        first.process.kill()
    said = [first.end(), second.end()]
    # The one that ended last must know whether all is done; which one that was is not known here.
    if all(one.status == 3 for one in said):
        return Trial(kind, "lost", f"each left runs to the other: {said[0].last} {said[1].last}")
    zero = [one for one in said if one.status == 0]
    return judged(kind, root, expected, zero or said, _repeat(root, folder, without_flock))


def _crashed(kind: str, folder: Path, expected: Rows, chance: random.Random) -> Trial:
    """A process of another host that dies in the sweep, and the sweep on this host afterwards."""
    root = folder / "outputs"
    command = Command(root, folder / "said", without_flock)
    while command.process.is_alive() and not list(root.glob("runs/*/lock")):
        time.sleep(0.001)
    time.sleep(chance.uniform(0, 0.3))
    command.process.kill()
    said = command.end()
    on_another_host(root)
    repeated = _repeat(root, folder, without_flock)()
    again = judged(kind, root, expected, [said, repeated], _repeat(root, folder, without_flock))
    # Nobody asks for the lock of a run that is done: who died between its last file and giving back the lock
    # leaves a heartbeat there that holds nothing up.
    beats = list(root.rglob(f"*{lock_holders.HEARTBEAT}"))
    left = [path for path in beats if not (path.parent / "summary.json").exists()]
    if again.outcome == "clean" and (repeated.status != 0 or left):
        return Trial(kind, "lost", f"{len(left)} locks are not taken over: {repeated.last}")
    return again


def without_flock() -> None:
    """Takes `flock` from this process, where two seconds without a heartbeat are long."""
    refuse_flock(pytest.MonkeyPatch())
    lock_holders.LEASE_SECONDS = 2.0


def on_another_host(root: Path) -> None:
    """Gives the locks that a process left here to one of another host, silent for an hour."""
    for path in root.rglob(f"*{lock_holders.HEARTBEAT}"):
        lock = path.with_name(path.name.removesuffix(lock_holders.HEARTBEAT))
        lines = [line for line in path.read_text().splitlines() if not line.startswith("host=")]
        path.write_text("".join(f"{line}\n" for line in [*lines, "host=node3"]))
        if lock.read_bytes():
            lock.write_text(json.dumps(json.loads(lock.read_bytes()) | {"host": "node3"}))
        os.utime(path, (time.time() - 3600,) * 2)


@contextmanager
def mounted(disk: Path, options: str) -> Iterator[Path]:
    """A file system in memory."""
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=True, capture_output=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


@cache
def may_mount() -> bool:
    """Whether this process may mount file systems."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with mounted(Path(folder) / "disk", "size=64k"):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False
