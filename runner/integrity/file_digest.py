"""Digests of files: of other files, and one that a file holds of itself, so that a changed byte is found.

A JSON file, a ``.safetensors`` file or a checkpoint holds ``"digest_of_this_file": "sha256:..."``: the
SHA-256 of its bytes with 64 zeros in that place.

SHA-256 was chosen among the hashes of the standard library: with the instructions that processors have for
it, it is faster than BLAKE2b (0.7 against 0.4 GB/s where we measured), and ``sha256sum`` gives the same
without us. CRC-32 is four to eight times as fast, but to open and read a file of kilobytes takes longer.
"""

from __future__ import annotations

import hashlib
import io
import re
from enum import Enum
from zipfile import ZipFile

KEY = "digest_of_this_file"
"""The key, or name, under which a file holds its own digest."""

PREFIX = "sha256:"
BLANK = PREFIX + 64 * "0"
"""What stands in the place of the digest while it is computed."""

_PLACE = re.compile(rb'"digest_of_this_file": ?"sha256:([0-9a-f]{64})"')

_MARKS = (b"digest_of_", b"this_file")
"""A file that has either of them held a digest once, even where damage has made it unreadable."""


class FileState(Enum):
    """Whether a file is as it was written."""

    WHOLE = "whole"
    DAMAGED = "damaged"
    UNKNOWN = "unknown"
    """It has no digest: another program wrote it."""


def digest_of(content: bytes | memoryview) -> str:
    """``sha256:`` and 64 hexadecimal digits."""
    return PREFIX + hashlib.sha256(content).hexdigest()


def with_own_digest(content: bytes) -> bytes:
    """`content`, which holds `BLANK` at the key `KEY`, with its digest in that place.

    Raises:
        ValueError: if there is no such place.
    """
    place = _PLACE.search(content)
    if place is None or place[1] != BLANK.removeprefix(PREFIX).encode():
        raise ValueError("the content has no place for its digest")
    start, end = place.span(1)
    return content[:start] + hashlib.sha256(content).hexdigest().encode() + content[end:]


def file_state(content: bytes) -> FileState:
    """Whether `content` is what `with_own_digest` made."""
    place = _PLACE.search(content)
    if place is None:
        return FileState.DAMAGED if any(mark in content for mark in _MARKS) else FileState.UNKNOWN
    start, end = place.span(1)
    view = memoryview(content)
    found = hashlib.sha256(view[:start])
    found.update(bytes(BLANK.removeprefix(PREFIX), "ascii"))
    found.update(view[end:])
    return FileState.WHOLE if found.hexdigest().encode() == place[1] else FileState.DAMAGED


def zip_is_whole(content: bytes) -> bool:
    """Whether every entry of a zip archive, such as ``torch.save`` writes, has its own CRC-32."""
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            return archive.testzip() is None
    except Exception:  # what a damaged archive raises has no common class
        return False
