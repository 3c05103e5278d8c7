"""Locks on files that say who holds them.

A lock is one of the kernel's (`flock`), which ends with its process. On a file system that has none it is a
file beside it with a heartbeat (`filelock.SoftFileLease`): who gives no sign of life for `LEASE_SECONDS` is
replaced.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import SoftFileLease, Timeout, UnixFileLock

from runner.execution import signals
from runner.execution.errors import RunError, UserError, warn
from runner.execution.manifest import now
from runner.files import lock_holders
from runner.files.lock_holders import ANOTHER, Holder, heartbeat, holder, waited_for

PATIENCE_SECONDS = 2.0
"""Who waits longer says for whom."""

NOTE_BYTES = 1024
"""Length of what a holder writes into the lock's file, blanks at its end included."""

NO_FLOCK = (errno.ENOSYS, errno.EOPNOTSUPP)


class LockLostError(RunError):
    """Another process may have the lock now; what this one has not written yet it does not write."""


class Lock:
    """The lock of one file; each process that wants it has an object of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = -1
        self._holder: Holder | None = None
        self._lock: UnixFileLock | SoftFileLease = UnixFileLock(
            path, fallback_to_soft=False, on_acquired=self._borrow
        )

    def take(self, seconds: float = 0.0) -> bool:
        """Whether this process has the lock, after waiting for it so long at most.

        Raises:
            UserError: if the file system gives out no locks.
            OSError: if the lock's file cannot be made.
        """
        try:
            self._lock.acquire(timeout=seconds)
        except Timeout:
            return False
        except OSError as error:
            if error.errno == errno.ENOLCK:
                raise no_locks(self.path.parent) from error
            if error.errno not in NO_FLOCK or isinstance(self._lock, SoftFileLease):
                raise
            self._lock = SoftFileLease(heartbeat(self.path), lease_duration=lock_holders.LEASE_SECONDS)
            return self.take(seconds)
        if isinstance(self._lock, SoftFileLease) and (before := holder(self.path)) is not None:
            warn(f"{self.path} was taken over from {before}, which has crashed or gives no sign of life.")
        self._sign(Holder(platform.node(), os.getpid(), now()))
        return True

    def note(self, about: Mapping[str, Any]) -> None:
        """Writes beside who holds the lock what others may know of its work; nothing once it is lost."""
        if self._holder is None or self.lost:
            return
        text = json.dumps({**vars(self._holder), **about}).encode().ljust(NOTE_BYTES)
        if len(text) > NOTE_BYTES:
            return
        # In the place of what is there: a reader never finds the file empty, and a full disk takes nothing.
        with suppress(OSError):
            if isinstance(self._lock, SoftFileLease):
                with self.path.open("r+b") as file:
                    file.write(text)
            else:
                os.pwrite(self._descriptor, text, 0)

    def release(self) -> None:
        """Gives the lock back; who holds it next sees that it was not left by a crash."""
        if not self.lost:
            self._sign(None)
        self._lock.release()

    @property
    def lost(self) -> bool:
        """Whether the lock was taken over from this process, or its folder removed."""
        if isinstance(self._lock, SoftFileLease):
            return self._lock.compromise is not None
        try:
            return not os.path.samestat(os.fstat(self._descriptor), os.stat(self.path))
        except OSError:
            return True

    def require(self) -> None:
        """Refuses to go on without the lock.

        Raises:
            LockLostError: if it is lost.
        """
        if self.lost:
            why = "was removed while this process held it"
            if isinstance(self._lock, SoftFileLease):
                silent = f"{lock_holders.LEASE_SECONDS:.0f} s in which this process gave no sign of life"
                why = f"was taken over after {silent}"
            raise LockLostError(
                f"The lock {self.path} {why}; results that were not written yet are lost, repeat the command."
            )

    def _borrow(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def _sign(self, who: Holder | None) -> None:
        """Writes who holds the lock into its file: it is for people, so that a full disk is no obstacle."""
        self._holder = who
        text = b"" if who is None else json.dumps(vars(who)).encode().ljust(NOTE_BYTES)
        with suppress(OSError):
            if isinstance(self._lock, SoftFileLease):
                self.path.write_bytes(text)
            else:
                os.ftruncate(self._descriptor, 0)
                os.pwrite(self._descriptor, text, 0)


@contextmanager
def held(path: Path) -> Iterator[Lock]:
    """The lock, after waiting for it however long that takes; whoever waits says for whom."""
    lock, said = Lock(path), ""
    while not lock.take(PATIENCE_SECONDS):
        # A lock that was given back a moment ago names nobody: that is no news.
        if (whom := waited_for(path, unsigned=said or ANOTHER)) != said:
            warn(f"waiting for {whom}, which holds {path}.")
            said = whom
    try:
        yield lock
    finally:
        lock.release()


def take_abandoned(locks: Sequence[Lock]) -> Iterator[Lock]:
    """Each of `locks` that can be taken over, when it is, watching all for as long as that takes."""
    for lock in locks:
        seems = "seems to have crashed"
        if ahead := lock_holders.seconds_ahead(lock.path):
            seems = f"may have crashed: its heartbeat is dated {ahead:,.0f} s ahead of this host's clock"
        warn(
            f"waiting for {waited_for(lock.path)}, which holds {lock.path} and {seems}; it is "
            f"taken over after {lock_holders.LEASE_SECONDS:.0f} s without a sign of life."
        )
    left, until = list(locks), time.monotonic() + 1.5 * lock_holders.LEASE_SECONDS
    while left and time.monotonic() < until:
        signals.obey()
        for lock in list(left):
            if lock.take():
                left.remove(lock)
                yield lock
        time.sleep(min(1.0, lock_holders.LEASE_SECONDS / 20))


def require_locks(folder: Path) -> None:
    """Refuses a folder whose file system gives out no locks; one without `flock` has heartbeats.

    Raises:
        UserError: for the folder, with what to do.
    """
    probe = folder / f".lock-{platform.node()}-{os.getpid()}"
    try:
        with probe.open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno == errno.ENOLCK:
            raise no_locks(folder) from error
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)


def no_locks(folder: Path) -> UserError:
    """What is said where `flock` fails with "No locks available"."""
    return UserError(
        f"No locks are available in {folder}: the lock service of its file system does not answer; set "
        "output_root to a folder of another file system, or have it started (rpc.statd for NFS 3)."
    )
