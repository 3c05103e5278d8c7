"""How a command ends: what failed, what is left to other processes, what is gone; the exit status."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from runner.execution.errors import warn
from runner.files.locks import waited_for
from runner.store.run_folder import RunFolder
from runner.sweep.jobs import Job, folders_of
from runner.sweep.outcome import Outcome, digest

SHOWN = 3
"""Other processes that are named."""


def ended(jobs: Iterable[Job], outcome: Outcome) -> int:
    """Says what is not done, where anything is not; the exit status.

    A run that another process has ended meanwhile is done.
    """
    folders = {folder.run_id: folder for each in jobs for folder in folders_of(each)}
    late = [run_id for run_id in outcome.locked if folders[run_id].summary() is not None]
    outcome.skipped += late
    outcome.locked = [run_id for run_id in outcome.locked if run_id not in late]
    if outcome.failures:
        print(digest(outcome.failures), file=sys.stderr)
    if outcome.locked:
        warn(_left([folders[run_id] for run_id in outcome.locked]))
    gone = [run_id for run_id in outcome.done if not (folders[run_id].path / "summary.json").exists()]
    if gone:
        outcome.done = [run_id for run_id in outcome.done if run_id not in gone]
        print(
            f"error: {len(gone)} of the runs that were done are gone: {folders[gone[0]].path.parent} "
            "was removed meanwhile; repeat the command.",
            file=sys.stderr,
        )
    return 1 if gone else outcome.status


def _left(folders: list[RunFolder]) -> str:
    """``2 runs are left to process 12 on node3 since ...; repeat the command when it has ended.``"""
    others = list(dict.fromkeys(waited_for(folder.lock.path) for folder in folders))
    more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
    runs, it = ("1 run is", "it has") if len(folders) == 1 else (f"{len(folders)} runs are", "they have")
    whom = ", ".join(others[:SHOWN]) + more
    return f"{runs} left to {whom}, and not done yet; repeat the command when {it} ended."
