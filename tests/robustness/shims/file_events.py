"""Kills the own process before its n-th file-system event, or in the middle of its n-th write."""

from __future__ import annotations

import os
import signal
import stat
import sys
from pathlib import Path
from typing import Any

AUDITED = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link")
"""Events that Python announces with the path first; ``os.replace`` is ``os.rename``."""
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class FileEvents:
    """Counts what this process does to files below a folder; once made it cannot be taken away.

    A file that is opened for writing, flushed to the disk, renamed or removed is an event, and so is a folder
    that is made or removed.

    Attributes:
        count: events so far.
    """

    def __init__(self, root: Path, last: int | None = None, written: float | None = None) -> None:
        """
        Args:
            root: the folder.
            last: the event that this process does not live to see; None for no end.
            written: with it only flushes count, and of the last file this share is on the disk.
        """
        self.root, self.last, self.written, self.count = str(root), last, written, 0
        self._fsync = os.fsync
        os.fsync = self._flush  # type: ignore[assignment]
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Called before the event; an open file's descriptor is no path."""
        if self.written is not None or event not in ("open", *AUDITED):
            return
        path = arguments[0]
        if not isinstance(path, (str, os.PathLike)) or not str(path).startswith(self.root):
            return
        if event != "open" or arguments[2] & WRITES:
            self._happens()

    def _flush(self, descriptor: int) -> None:
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        if self.written is None:
            self._happens()
        elif is_file:
            if self.count + 1 == self.last:
                os.ftruncate(descriptor, int(self.written * os.fstat(descriptor).st_size))
            self._happens()
        self._fsync(descriptor)

    def _happens(self) -> None:
        self.count += 1
        if self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
