"""Digests of the files of a folder, in one of them: a run's summary, a report, or a file of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runner.files.atomic_files import read_json, write_json
from runner.integrity.file_digest import digest_of

FILES = "files"
"""The key at which a JSON file has the digest of each other file, by name."""

DIGESTS = "digests.json"
"""That file, in a folder that has no other."""


def write_digests(folder: Path, names: Iterable[str]) -> None:
    """Writes the digests of these files into a file of its own."""
    write_json(folder / DIGESTS, {FILES: {name: digest_of((folder / name).read_bytes()) for name in names}})


def damaged_files(folder: Path) -> list[str]:
    """Names of the files that are not what `write_digests` saw; empty where there are no digests."""
    content = read_json(folder / DIGESTS)
    if content is None:
        return [DIGESTS] if (folder / DIGESTS).exists() else []
    return changed(folder, content[FILES])


def changed(folder: Path, expected: Mapping[str, Any]) -> list[str]:
    """Names of the files that are not there, cannot be read, or have another digest."""
    return [name for name, digest in expected.items() if _digest(folder / name) != digest]


def _digest(path: Path) -> str | None:
    try:
        return digest_of(path.read_bytes())
    except OSError:
        return None
