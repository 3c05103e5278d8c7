"""The folder of the report: written only where it is ours, and only where something changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from pathlib import Path

from runner.execution.errors import UserError, reason

MARKER = ".rungwise-report"
INDEX = ".index.json"
ASIDE = (MARKER, INDEX)
"""Files that are no part of the site."""


class SiteFolder:
    """The report's folder.

    Args:
        path: where it is to be.

    Raises:
        UserError: if something else is there, or it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        marker = path / MARKER
        if path.exists() and not marker.is_file() and (not path.is_dir() or any(path.iterdir())):
            raise UserError(
                f"The report is not written to {path}, since that was not made by this command (it has no "
                f"{MARKER}); name another folder with --to."
            )
        try:
            path.mkdir(parents=True, exist_ok=True)
            marker.write_text("The report of rungwise; every file in this folder may be replaced.\n")
        except OSError as error:
            raise UserError(f"The report cannot be written to {path} ({reason(error)}).") from error

    @property
    def index(self) -> Path:
        """The file of the index."""
        return self.path / INDEX

    def write(self, name: str, content: str | bytes) -> bool:
        """Writes a file unless it has this content; whether it did. A reader sees the old or the new one."""
        path, data = self.path / name, content.encode() if isinstance(content, str) else content
        try:
            if path.stat().st_size == len(data) and path.read_bytes() == data:
                return False
        except OSError:
            path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
        temporary.write_bytes(data)
        temporary.replace(path)
        return True

    def keep_only(self, folder: str, names: Collection[str]) -> None:
        """Removes from a folder of the site what it no longer has, whichever version of the code wrote it.

        Args:
            names: of the files and folders that stay, beside what is just being written.
        """
        for path in (self.path / folder).glob("[!.]*"):
            if path.name not in names:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
