"""Which runs a place of W&B has, and what of them: a file with a digest for each, beside W&B's own files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

PLACE = "place.txt"
OFFLINE = "W&B: written offline"
"""How it is said that runs lie on the disk, in one copy whatever project it is for."""

FORM = 1
"""Counts up when a copy holds more, or other things, than before."""


class CopiedRuns:
    """The runs that lie at one place.

    Args:
        folder: where the digests are kept.
        place: names the place: server, entity and project, or that it is offline.
        about: what a copy says besides a run's results, such as its tags.
    """

    def __init__(self, folder: Path, place: str, about: Any) -> None:
        self.folder = folder / hashlib.sha256(place.encode()).hexdigest()[:16]
        self._about = about

    def digest(self, content: Mapping[str, Any]) -> str:
        """Of what the copy of a run with the results `content` would hold."""
        said = json.dumps([FORM, self._about, content], sort_keys=True, default=str)
        return hashlib.sha256(said.encode()).hexdigest()

    def has(self, run_id: str, digest: str) -> bool:
        """Whether the place has the run with these results."""
        try:
            return (self.folder / run_id).read_text() == digest
        except OSError:
            return False

    def forget_offline(self, run_id: str) -> None:
        """Forgets every offline copy of a run, of all projects, as one that is written now replaces it."""
        for said in self.folder.parent.glob(f"*/{PLACE}"):
            with suppress(OSError):
                if said.read_text().startswith(OFFLINE):
                    (said.parent / run_id).unlink(missing_ok=True)

    def said(self) -> str | None:
        """What was said last of where the runs can be seen."""
        try:
            return (self.folder / PLACE).read_text()
        except OSError:
            return None

    def note(self, run_id: str, digest: str, place: str) -> None:
        """Notes that the runs can be seen at `place`, this one among them.

        Where that cannot be written the run is copied again another time.
        """
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / run_id).write_text(digest)
            (self.folder / PLACE).write_text(place)
