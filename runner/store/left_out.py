"""What commands that run nothing say of runs that are damaged, or that cannot be read at the moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from runner.execution.storage_errors import StorageError
from runner.store.run_folder import RunFolder

SHOWN = 3
"""Runs that are named."""


def left_out_runs(folders: Iterable[RunFolder]) -> str:
    """A line on the runs among `folders` that are damaged, one on those that cannot be read now, ...

    ... and one on those that are not done and whose settings nobody knows. It is empty without any of these.
    """
    damaged: dict[Path, list[str]] = {}
    refused: dict[Path, str] = {}
    unknown: list[Path] = []
    for folder in {folder.path: folder for folder in folders}.values():
        try:
            summary, names = folder.checked()
            if names:
                damaged[folder.path] = names
            elif summary is None and folder.config_is_lost():
                unknown.append(folder.path)
        except StorageError as error:
            refused[folder.path] = str(error)
    return "\n".join(filter(None, (_of_damaged(damaged), _of_refused(refused), _of_unknown(unknown))))


def _of_damaged(found: dict[Path, list[str]]) -> str:
    if not found:
        return ""
    named = _some([f"{path} ({', '.join(damaged)})" for path, damaged in found.items()])
    runs, them = ("1 run is", "it") if len(found) == 1 else (f"{len(found)} runs are", "them")
    return (
        f"{runs} damaged and left out, {named}: repeating the sweep sets {them} aside and computes {them} "
        "again."
    )


def _of_refused(found: dict[Path, str]) -> str:
    if not found:
        return ""
    runs, are = ("1 run", "is") if len(found) == 1 else (f"{len(found)} runs", "are")
    named = _some([str(path) for path in found])
    return f"{runs} cannot be read now and {are} left out, {named}: {next(iter(found.values()))}"


def _of_unknown(found: Sequence[Path]) -> str:
    if not found:
        return ""
    runs, are = ("1 run that is", "is") if len(found) == 1 else (f"{len(found)} runs that are", "are")
    named = _some([str(path) for path in found])
    return (
        f"{runs} not done {are} left out, {named}: config.yaml cannot be read; repeating the sweep writes it "
        "anew."
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"
