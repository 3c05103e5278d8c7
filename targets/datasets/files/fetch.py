"""Published files from the network: under a temporary name, checked, and only then at their place."""

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

from targets.datasets.dataset import DataError
from targets.datasets.files.places import one_line

TIMEOUT = 8.0
"""Seconds without a byte after which a server is given up."""
CHUNK = 1 << 20
FAILURES = (OSError, RuntimeError, EOFError, http.client.HTTPException, zipfile.BadZipFile, zlib.error)
TAKEN = (errno.ENOTEMPTY, errno.EEXIST)
"""Errors of renaming a folder onto one that holds something."""


def fetch(root: Path, files: Mapping[str, Mapping[str, str]]) -> None:
    """Downloads the files that are not there.

    Args:
        root: folder of all data sets.
        files: path below `root`, to ``url`` and ``sha256``.

    Raises:
        DataError: with the reason alone; no part of a file stays behind.
    """
    with scratch(root) as folder:
        for number, (path, source) in enumerate(files.items()):
            target, part = root / path, folder / str(number)
            if target.is_file():
                continue
            digest = _download(source["url"], part)
            if digest != source["sha256"]:
                raise DataError(f"{source['url']} has the SHA-256 {digest}, {source['sha256']} is published")
            put(part, target)


def from_torchvision(
    root: Path, dataset: str, wanted: Sequence[str], options: Sequence[Mapping[str, object]]
) -> None:
    """Lets torchvision's class `dataset` download and check its files, then moves those that are wanted.

    Args:
        root: folder of all data sets.
        dataset: name of a class of ``torchvision.datasets``.
        wanted: paths below `root`, files or folders.
        options: arguments of the class, once for each download.

    Raises:
        DataError: with the reason alone; no part of a file stays behind.
    """
    import torchvision.datasets  # type: ignore[import-untyped, unused-ignore]

    with scratch(root) as folder:
        for arguments in options:
            getattr(torchvision.datasets, dataset)(folder, download=True, **arguments)
        # An archive at its place says that all is there, so what was unpacked from it comes first.
        for path in sorted(wanted, key=lambda path: (folder / path).is_file()):
            put(folder / path, root / path)


@contextmanager
def scratch(root: Path) -> Iterator[Path]:
    """A folder below `root` that is gone afterwards, while sockets wait `TIMEOUT` seconds at most.

    Raises:
        DataError: for whatever stops a download inside.
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
        # torchvision's message tells of every mirror; the last one's fault is enough.
        reason = one_line(error).rpartition("got:")[2].strip(" <>")
        raise DataError(f"no network, or the download failed: {reason}") from error
    finally:
        socket.setdefaulttimeout(waited)


def put(part: Path, target: Path) -> None:
    """Renames what is whole to its place, within one file system, so that nobody sees half of it.

    What stands there already stays, and ours is left where it is.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_file():
        return
    try:
        os.replace(part, target)
    except OSError as error:
        # Another process was first.
        if error.errno not in TAKEN:
            raise


def _download(url: str, part: Path) -> str:
    """SHA-256 of what was written to `part`."""
    digest = hashlib.sha256()
    with urllib.request.urlopen(url, timeout=TIMEOUT) as response, part.open("wb") as file:
        while chunk := response.read(CHUNK):
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()
