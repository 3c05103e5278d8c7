"""Disks that are full, read-only or gone: one sentence, and what was on them before is still there."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from runner.execution.errors import RunError

REASONS = {
    errno.ENOSPC: "No space is left on the disk",
    errno.EDQUOT: "The disk quota is reached",
    errno.EROFS: "The file system is read-only",
    errno.ESTALE: "The file server no longer knows the folder (a stale file handle)",
    errno.EIO: "The disk reports an input/output error",
}


class StorageError(RunError):
    """The disk refuses; nothing that was on it before is lost."""


def storage_error(
    error: BaseException, path: Path | None = None, *, writing: bool = False
) -> StorageError | None:
    """What to say of an error of the disk, or None for an error of another kind.

    Args:
        path: what was to be written; by default the file that the error names.
        writing: whether a file of our own was being written: where that is not there, its folder was removed,
            also if another run has made it again by now.
    """
    if isinstance(error, StorageError):
        return error
    if not isinstance(error, OSError):
        return None
    if path is None:
        # Hydra's directories may come as text, and the error of a descriptor names nothing.
        path = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else None
    folder = None if path is None else path.parent
    reason = REASONS.get(error.errno or 0)
    if error.errno == errno.ENOENT and folder is not None and (writing or not folder.exists()):
        reason = f"The folder {folder} was removed"
    if reason is None:
        return None
    if error.errno == errno.ENOSPC and folder is not None and _no_inodes(folder):
        reason = "No inode is left on the disk, so that there is no room for another file,"
    return StorageError(
        f"{reason} to write {path or 'the results'}; nothing that was there is lost, repeat the command when "
        f"{'there is room' if error.errno in (errno.ENOSPC, errno.EDQUOT) else 'this is mended'}."
    )


def _no_inodes(folder: Path) -> bool:
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    return found.f_files > 0 and found.f_ffree == 0 and found.f_bavail > 0
