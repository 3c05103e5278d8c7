"""Disks that are full, read-only or gone, files and folders that refuse: one sentence, nothing is lost."""

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
    errno.EFBIG: "The largest size that a file may have is reached (ulimit -f)",
}

REFUSALS = {
    errno.EACCES: "Permission is missing",
    errno.EPERM: "The system does not permit this process",
    errno.EISDIR: "A file is needed in place of a folder",
}
"""By a file or folder that is named: without a name, a socket or a process may have refused."""

NO_FOLDER = (errno.ENOTDIR, errno.EEXIST)
"""What making or entering a folder says of a file in its place."""


ABSENT = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
"""What reading says where there is no such file; any other error says nothing of a file that may be whole."""


AGAIN = "; nothing that was there is lost, repeat the command when this is mended."


class StorageError(RunError):
    """The disk refuses; nothing that was on it before is lost."""


def storage_error(error: BaseException, written: Path | None = None) -> StorageError | None:
    """What to say of an error of the disk, or None for an error of another kind.

    Args:
        written: a file of our own that was to be written: where it is not there, its folder was removed, also
            if another run has made it again by now. By default the error names the file, to write or to read.
    """
    if isinstance(error, StorageError):
        return error
    if not isinstance(error, OSError):
        return None
    path = written
    if path is None:
        # Hydra's directories may come as text, and the error of a descriptor names nothing.
        path = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else None
    number, folder = error.errno or 0, None if path is None else path.parent
    reason = REASONS.get(number)
    if number == errno.ENOENT and folder is not None and (written is not None or not folder.exists()):
        reason = f"The folder {folder} was removed"
    if path is not None:
        reason = reason or _refusal(number, path)
    if reason is None:
        return None
    if number == errno.ENOSPC and folder is not None and _no_inodes(folder):
        reason = "No inode is left on the disk, so that there is no room for another file,"
    # Permission may also be missing to read.
    use = "write" if written is not None or number not in REFUSALS else "read or write"
    return StorageError(
        f"{reason} to {use} {path or 'the results'}; nothing that was there is lost, repeat the command when "
        f"{'there is room' if number in (errno.ENOSPC, errno.EDQUOT) else 'this is mended'}."
    )


def reading_refused(error: BaseException, path: Path, *, ours: bool = False) -> StorageError | None:
    """What to say where `path` cannot be read now; None where it is not there, or another kind of error.

    Args:
        ours: whether we had written it, so that a folder that is not there was removed.
    """
    if isinstance(error, StorageError):
        return error
    if ours and isinstance(error, FileNotFoundError) and not path.parent.exists():
        return StorageError(f"{path} cannot be read: the folder {path.parent} was removed{AGAIN}")
    if not isinstance(error, OSError) or isinstance(error, ABSENT):
        return None
    number = error.errno or 0
    why = REASONS.get(number) or REFUSALS.get(number)
    said = f"{path} cannot be read ({error.strerror or error})" if why is None else f"{why} to read {path}"
    return StorageError(f"{said}{AGAIN}")


def _refusal(number: int, path: Path) -> str | None:
    """What is said where a file or folder refuses; None for another error."""
    if number not in NO_FOLDER:
        return REFUSALS.get(number)
    for place in (path, *path.parents):
        if os.path.lexists(place) and not place.is_dir():
            return f"A folder is needed in place of {'a file' if place == path else place}"
    return None


def _no_inodes(folder: Path) -> bool:
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    return found.f_files > 0 and found.f_ffree == 0 and found.f_bavail > 0
