"""A folder that is replaced as a whole: whoever is cut short leaves the old one or the new one."""

from __future__ import annotations

import ctypes
import glob
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

OLD = "old"

AT_FDCWD, RENAME_EXCHANGE = -100, 2
"""Of Linux: paths are from the current folder; both names are there before and after."""


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """A copy of `folder` to change, which takes its place at the end; after an error the folder is as it was.

    Where there is no folder yet, an empty one is given, and after an error there is none.

    The two change places at once where the system can do that. Elsewhere there are two renames; killed
    between them it leaves both, whole, in a hidden folder beside, from which `restored` takes the old one.
    """
    restored(folder)
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as beside:
        new, old = Path(beside) / "new", Path(beside) / OLD
        if not folder.exists():
            new.mkdir()
            yield new
            new.rename(folder)
            return
        shutil.copytree(folder, new)
        yield new
        if exchanged(new, folder):
            return
        folder.rename(old)
        try:
            new.rename(folder)
        except BaseException:
            old.rename(folder)
            raise


def restored(folder: Path) -> None:
    """Puts `folder` back if it is not there since `replaced` was killed between its renames."""
    left = Path(folder.parent).glob(f".{glob.escape(folder.name)}.*/{OLD}")
    if not folder.exists() and (old := next(left, None)) is not None:
        old.rename(folder)
        shutil.rmtree(old.parent)


def exchanged(one: Path, other: Path) -> bool:
    """Whether two folders of one file system could change places at once, and did."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):  # not on this system
        return False
    return bool(
        rename(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), ctypes.c_uint(RENAME_EXCHANGE)) == 0
    )
