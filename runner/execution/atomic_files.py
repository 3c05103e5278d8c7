"""Files that are whole or absent: written under a temporary name, flushed to the disk, renamed."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.execution.errors import RunError

SUFFIX = ".partial"


class DiskFullError(RunError):
    """No space is left, or the quota is reached; what was on the disk before is still there."""


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Puts `content` in place of whatever `path` holds; a reader sees the old file or the new one.

    Raises:
        DiskFullError: if there is no room for it.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}{SUFFIX}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError(
                f"No space is left on the disk to write {path}; nothing that was there is lost, "
                "repeat the command when there is room."
            ) from error
        raise
    _flush_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """`write_bytes` of `text` in UTF-8."""
    write_bytes(path, text.encode())


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """`write_bytes` of `content` as JSON with sorted keys."""
    write_text(path, json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any] | None:
    """The JSON object in `path`; None where there is none that can be read."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def set_aside(path: Path) -> Path:
    """Renames `path` to ``<stem>.bad-N<suffix>``, so that nothing of it is lost, and returns that name."""
    number = 1
    while (aside := path.with_name(f"{path.stem}.bad-{number}{path.suffix}")).exists():
        number += 1
    path.rename(aside)
    return aside


def remove_partial(folder: Path, name: str = "") -> None:
    """Removes half-written files that a killed process left behind; only for the holder of their lock.

    Args:
        folder: where they are.
        name: of the file that they would have become; of any by default.
    """
    for path in folder.glob(f"{name}*{SUFFIX}"):
        path.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
