"""Downloads of published files: to a temporary name, checked, then renamed into place."""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import socket
import tempfile
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from targets.datasets.files.data_error import DataError
from targets.datasets.files.places import one_line

TIMEOUT = 8.0
"""Seconds without data after which a download is aborted."""
CHUNK = 1 << 20
FAILURES = (OSError, RuntimeError, EOFError, http.client.HTTPException, zipfile.BadZipFile, zlib.error)
TAKEN = (errno.ENOTEMPTY, errno.EEXIST)
"""Errors of renaming a folder to one that exists and is not empty."""


def fetch(root: Path, files: Mapping[str, Mapping[str, str]]) -> None:
    """Downloads the files that are missing.

    Args:
        root: folder of all data sets.
        files: path below `root`, to ``url`` and ``sha256``.

    Raises:
        DataError: with the reason only; no partial file is left.
    """
    with temporary_folder(root) as folder:
        for number, (path, source) in enumerate(files.items()):
            target, part = root / path, folder / str(number)
            if target.is_file():
                continue
            digest = _download(source["url"], part)
            if digest != source["sha256"]:
                raise DataError(f"{source['url']} has the SHA-256 {digest}, {source['sha256']} is published")
            move_into_place(part, target)


def from_torchvision(
    root: Path, dataset: str, wanted: Sequence[str], options: Sequence[Mapping[str, object]]
) -> None:
    """Downloads and checks files with torchvision's class `dataset`, then moves the `wanted` ones into place.

    Args:
        root: folder of all data sets.
        dataset: name of a class of ``torchvision.datasets``.
        wanted: paths below `root`, files or folders.
        options: arguments of the class, once for each download.

    Raises:
        DataError: with the reason only; no partial file is left.
    """
    import torchvision.datasets  # type: ignore[import-untyped, unused-ignore]

    with temporary_folder(root) as folder:
        for arguments in options:
            getattr(torchvision.datasets, dataset)(folder, download=True, **arguments)
        # An archive marks the data set as complete, so the files unpacked from it are moved first.
        for path in sorted(wanted, key=lambda path: (folder / path).is_file()):
            move_into_place(folder / path, root / path)


@contextmanager
def temporary_folder(root: Path) -> Iterator[Path]:
    """A temporary folder below `root`; meanwhile sockets time out after `TIMEOUT` seconds.

    Raises:
        DataError: if the folder cannot be made or a download inside fails.
    """
    try:
        made = tempfile.TemporaryDirectory(prefix=".download-", dir=root)
    except OSError as error:
        raise DataError(f"nothing can be written there: {error.strerror}") from error
    waited = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT)
    try:
        with made as folder:
            yield Path(folder)
    except FAILURES as error:
        # torchvision's message lists the errors of all mirrors; the last one is enough.
        reason = one_line(error).rpartition("got:")[2].strip(" <>")
        raise DataError(f"no network, or the download failed: {reason}") from error
    finally:
        socket.setdefaulttimeout(waited)


def move_into_place(part: Path, target: Path) -> None:
    """Renames a complete file or folder to its place, atomically, within one file system.

    If `target` exists already it is kept, and `part` is not moved.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_file():
        return
    try:
        os.replace(part, target)
    except OSError as error:
        # Another process has put it there in the meantime.
        if error.errno not in TAKEN:
            raise


def _download(url: str, part: Path) -> str:
    """Writes the content of `url` to `part`, and returns its SHA-256."""
    digest = hashlib.sha256()
    with urllib.request.urlopen(url, timeout=TIMEOUT) as response, part.open("wb") as file:
        while chunk := response.read(CHUNK):
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()
