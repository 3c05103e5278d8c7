"""Location of the files of a data set, and the message if they are missing."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from targets.datasets.files.data_error import DataError
from targets.datasets.files.user_paths import file_is_there, folder_is_there, user_path

GZIP = b"\x1f\x8b"

LARGEST = 2**29
"""Bytes of a file at most, decompressed: the largest published one has 80 million, a bomb thousands."""

Place = Mapping[str, str]
"""The files that belong together: by role, the path below the root."""


def data_root(name: str, root: str | None) -> Path:
    """The folder of all data sets.

    Raises:
        DataError: if none was given, or it is not a folder.
    """
    if root is None or not str(root).strip():
        raise DataError(f"{name} needs a folder of data sets, say where with DATA_ROOT=DIR or data.root=DIR")
    folder = user_path(root)
    if not folder_is_there(folder):
        raise DataError(f"data.root (or DATA_ROOT) must be a folder that exists, '{root}' was given")
    return folder


def found(root: Path, places: Sequence[Place]) -> dict[str, Path] | None:
    """The files of the first place that is complete, plain or with ``.gz`` added to the name."""
    for place in places:
        files = {what: _plain_or_gzipped(root / path) for what, path in place.items()}
        there = {what: path for what, path in files.items() if path is not None}
        if len(there) == len(place):
            return there
    return None


def found_or_fetched(
    name: str, root: Path, places: Sequence[Place], form: str, fetch: Callable[[], None]
) -> dict[str, Path]:
    """The files of the first complete place; if there is none, after a download by `fetch`.

    Args:
        form: format of the files, for the message: ``idx files, plain or .gz``.
        fetch: downloads them below the root, or raises `DataError` with the reason.

    Raises:
        DataError: naming the missing files, their place and format, and why the download failed.
    """
    files = found(root, places)
    if files is not None:
        return files
    reason = "the download did not bring them"
    try:
        fetch()
        files = found(root, places)
    except DataError as error:
        reason = str(error)
    if files is None:
        wanted = " and ".join(places[0].values())
        raise DataError(
            f"{name} is missing and could not be downloaded ({reason}): put {wanted} ({form}) into '{root}'"
        )
    return files


def given_file(file: str, root: str | None, folder: str, kind: str) -> Path:
    """The path of a user's own file: `file` as it stands, or else below ``root/folder``.

    Args:
        kind: of file, for the message: ``a TSPLIB file``.

    Raises:
        DataError: if it is in neither place.
    """
    here = user_path(file)
    if file_is_there(here):
        return here
    if root is not None and str(root).strip():
        below = user_path(root) / folder / file
        if file_is_there(below):
            return below
        why = "which is not there" if here.is_absolute() else f"which is not there, nor is '{below}'"
    else:
        why = "which is not there, and DATA_ROOT=DIR or data.root=DIR says no other place"
    raise DataError(f"file must be null or {kind}, '{file}' was given, {why}")


def file_content(path: Path, most: int = 0) -> bytes:
    """All bytes of a file, decompressed if it is gzipped.

    Args:
        most: how many bytes it may hold, decompressed; by default `LARGEST`.

    Raises:
        DataError: if it holds more, cannot be read or is a damaged gzip file.
    """
    most = most or LARGEST
    data = beginning(path, most + 1)
    if len(data) > most:
        raise DataError(f"'{path}' must hold at most {most:,} bytes, it holds more")
    return data


def beginning(path: Path, number: int) -> bytes:
    """The first bytes of a file, `number` at most, decompressed if it is gzipped.

    Raises:
        DataError: if it cannot be read or is a damaged gzip file.
    """
    try:
        with path.open("rb") as file:
            zipped = file.read(len(GZIP)) == GZIP
            file.seek(0)
            return gzip.GzipFile(fileobj=file).read(number) if zipped else file.read(number)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"'{path}' is damaged or cannot be read: {one_line(error)}") from error


def one_line(error: BaseException) -> str:
    """The message of `error` on one line, or its type if the message is empty.

    Of an error of the system only what happened: the sentence around it names the file.
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def gzipped_beside(path: Path) -> Path | None:
    """The ``.gz`` that a plain file at `path` hides, as the plain one is read; None where there is none."""
    gzipped = path.with_name(f"{path.name}.gz")
    return gzipped if file_is_there(gzipped) else None


def _plain_or_gzipped(path: Path) -> Path | None:
    return path if file_is_there(path) else gzipped_beside(path)
