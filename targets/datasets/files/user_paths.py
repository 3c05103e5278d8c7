"""Paths that a user gave: one that cannot be, like one where nothing is, ends in the reader's own sentence.

``Path.expanduser`` raises RuntimeError for the home of a user that does not exist, and ``Path.is_file``
OSError for a name that is too long.
"""

from __future__ import annotations

import os
from pathlib import Path


def user_path(given: str | Path) -> Path:
    """The path `given` with ``~`` replaced; as it stands where there is no such user."""
    return Path(os.path.expanduser(given))


def file_is_there(path: Path) -> bool:
    """Whether a file is at `path`; false for a path that cannot be."""
    return os.path.isfile(path)


def folder_is_there(path: Path) -> bool:
    """Whether a folder is at `path`; false for a path that cannot be."""
    return os.path.isdir(path)
