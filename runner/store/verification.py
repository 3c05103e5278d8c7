"""Checks every file of a store that has a digest; changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load

from runner.execution.storage_errors import StorageError
from runner.integrity.file_digest import FileState, file_state, zip_is_whole
from runner.store.folder_digests import DIGESTS, FILES, TABLE, changed, unfinished_table

TABLES, RECORD = "tables", "record"
ROOMS = ("runs", "artefacts", "models", "images", "classifiers", TABLES, RECORD)
"""The folders of an output root whose files are read again."""

SUFFIXES = (".json", ".safetensors", ".pt")
"""Files that hold a digest of their own, or those of the files beside them."""

SUMMARY = "summary.json"


@dataclass
class Verification:
    """What was found in a store.

    Attributes:
        runs: finished runs that were looked at.
        files: files whose digest was computed.
        damaged: files that are not as they were written, or are not there.
        unknown: models that another program wrote, without digests.
        unfinished: a sentence on each table without digests, which may have been cut short.
    """

    runs: int = 0
    files: int = 0
    damaged: list[Path] = field(default_factory=list)
    unknown: int = 0
    unfinished: list[str] = field(default_factory=list)


def verify(places: Iterable[Path]) -> Verification:
    """What is damaged among the files in these folders, and among these files, which may be missing."""
    places = list(places)
    tables = sorted(path for place in places if place.name == TABLES for path in place.rglob(TABLE))
    found = Verification(unfinished=[said for path in tables if (said := unfinished_table(path.parent))])
    damaged: dict[Path, None] = {}
    for path in _files(places):
        own, beside = _check(path)
        if path.name == SUMMARY:
            found.runs += 1
        if own is FileState.UNKNOWN:
            found.unknown += 1
        else:
            found.files += 1 + len(beside)
        damaged |= dict.fromkeys([path] if own is FileState.DAMAGED else [])
        damaged |= dict.fromkeys(other for other, whole in beside.items() if not whole)
    found.damaged = list(damaged)
    return found


def _files(places: Iterable[Path]) -> Iterator[Path]:
    """The files with a digest, those left out that were set aside."""
    for place in places:
        if place.is_file() or (place.suffix in SUFFIXES and not place.exists()):
            yield place
            continue
        for path in sorted(place.rglob("*")):
            aside = ".bad-" in path.name or any(part.startswith("damaged-") for part in path.parts)
            # Early manifests of records hold no digest of their own; those of the folder are of them, too.
            aside |= place.name == RECORD and path.name != DIGESTS
            if path.suffix in SUFFIXES and not aside and path.is_file():
                yield path


def _is_wrong(folder: Path, name: str, digest: Any) -> bool:
    """Whether a file is not as it was written, or cannot be read: both are signs of a failing disk."""
    try:
        return bool(changed(folder, {name: digest}))
    except StorageError:
        return True


def _check(path: Path) -> tuple[FileState, dict[Path, bool]]:
    """Whether a file is as it was written, and whether those are whose digests it holds."""
    try:
        content = path.read_bytes()
    except OSError:
        return FileState.DAMAGED, {}
    found = file_state(content)
    if found is FileState.UNKNOWN:
        return (found if path.suffix != ".json" and _plausible(path, content) else FileState.DAMAGED), {}
    if found is FileState.DAMAGED or path.suffix != ".json":
        return found, {}
    expected = json.loads(content).get(FILES) or {}
    wrong = [name for name, digest in expected.items() if _is_wrong(path.parent, name, digest)]
    return found, {path.parent / name: name not in wrong for name in expected}


def _plausible(path: Path, content: bytes) -> bool:
    """Whether a file without a digest can at least be read, and may thus be somebody else's."""
    if path.suffix == ".pt":
        return zip_is_whole(content)
    try:
        load(content)
    except (ValueError, SafetensorError):
        return False
    return True
