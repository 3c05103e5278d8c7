"""Files that are whole or absent: written under a temporary name, flushed to the disk, renamed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from runner.execution.storage_errors import reading_refused, storage_error
from runner.integrity.file_digest import BLANK, KEY, FileState, file_state, with_own_digest

SUFFIX = ".partial"


def write_bytes(path: Path, content: bytes | memoryview, *, flush_folder: bool = True) -> None:
    """Puts `content` in place of whatever `path` holds; a reader sees the old file or the new one.

    Args:
        path: the file.
        content: of the file.
        flush_folder: whether the new name, too, is on the disk at the end; if not, a loss of power may bring
            the old file back, until another file of the folder is written with it.

    Raises:
        runner.execution.storage_errors.StorageError: if the disk is full, read-only or gone; what was there
            before stays.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}{SUFFIX}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        if flush_folder:
            _flush_folder(path.parent)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if (refused := storage_error(error, path)) is not None:
            raise refused from error
        raise


def write_text(path: Path, text: str) -> None:
    """`write_bytes` of `text` in UTF-8."""
    write_bytes(path, text.encode())


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """`write_bytes` of `content` as JSON with sorted keys, and a digest of the file."""
    write_bytes(path, json_bytes(content))


def json_bytes(content: Mapping[str, Any]) -> bytes:
    """`content` as `write_json` writes it."""
    text = json.dumps({**content, KEY: BLANK}, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    return with_own_digest(text.encode())


def read_json(path: Path, digest_needed: bool = False) -> dict[str, Any] | None:
    """The JSON object in `path` without its digest; None where there is none, or none as it was written.

    Args:
        digest_needed: whether one without a digest, such as another program's, counts as none.

    Raises:
        runner.execution.storage_errors.StorageError: if it cannot be read now, which is no damage.
    """
    try:
        text = path.read_bytes()
        unfit = (FileState.DAMAGED, FileState.UNKNOWN) if digest_needed else (FileState.DAMAGED,)
        content = None if file_state(text) in unfit else json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        if (refused := reading_refused(error, path)) is not None:
            raise refused from error
        return None
    return {key: content[key] for key in content if key != KEY} if isinstance(content, dict) else None


def set_aside(path: Path) -> Path:
    """Renames `path` to ``<stem>.bad-N<suffix>``, so that nothing of it is lost, and returns that name."""
    number = 1
    while (aside := path.with_name(f"{path.stem}.bad-{number}{path.suffix}")).exists():
        number += 1
    path.rename(aside)
    return aside


def new_folder(parent: Path, name: str) -> Path:
    """Makes ``<name>-N`` in `parent`, with the first N that is free, and returns it."""
    number = 1
    while (folder := parent / f"{name}-{number}").exists():
        number += 1
    folder.mkdir()
    return folder


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
