"""What commands that run nothing say of what is damaged."""

from __future__ import annotations

from collections.abc import Iterable

from runner.store.run_folder import RunFolder

SHOWN = 3
"""Runs that are named."""


def damaged_runs(folders: Iterable[RunFolder]) -> str:
    """One sentence on the runs among `folders` that are damaged; empty where none is."""
    distinct = {folder.path: folder for folder in folders}
    found = {path: damaged for path, folder in distinct.items() if (damaged := folder.checked()[1])}
    if not found:
        return ""
    named = [f"{path} ({', '.join(damaged)})" for path, damaged in list(found.items())[:SHOWN]]
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    runs, them = ("1 run is", "it") if len(found) == 1 else (f"{len(found)} runs are", "them")
    return (
        f"{runs} damaged and left out, {', '.join(named)}{more}: repeating the sweep sets {them} aside and "
        f"computes {them} again."
    )
