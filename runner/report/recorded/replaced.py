"""A folder that is replaced as a whole: whoever is cut short leaves the old one or the new one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """A copy of `folder` to change, which takes its place at the end; after an error the folder is as it was.

    Killed between two renames it leaves the copy, whole, in a hidden folder beside.
    """
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as beside:
        new, old = Path(beside) / "new", Path(beside) / "old"
        shutil.copytree(folder, new)
        yield new
        folder.rename(old)
        try:
            new.rename(folder)
        except BaseException:
            old.rename(folder)
            raise
