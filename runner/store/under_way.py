"""What the processes that compute runs have noted of their work, in the locks that they hold."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from runner.execution.reached import Reached
from runner.files.lock_holders import Holder, is_held, noted, signed_by
from runner.files.locks import Lock
from runner.store.run_folder import RunFolder


@dataclass(frozen=True)
class UnderWay:
    """A process that computes runs, or makes what they need.

    Attributes:
        who: the process.
        work: how far it is; None if it has not said so yet.
    """

    who: Holder
    work: Reached | None

    def __str__(self) -> str:
        return f"{self.work or 'has begun'} (process {self.who.pid}, {self.who.host})"

    @property
    def left(self) -> float:
        """Seconds that its work still takes; infinite where that is not known."""
        return math.inf if self.work is None or self.work.left is None else self.work.left


@dataclass(frozen=True)
class Group:
    """Runs that one process computes together."""

    process: UnderWay
    runs: list[RunFolder]


def note(locks: Sequence[Lock], work: Reached) -> None:
    """Writes into `locks`, which this process holds, how far it is."""
    for lock in locks:
        lock.note(asdict(work))


def under_way(lock: Path) -> UnderWay | None:
    """The process that holds the lock of a run, and how far it is; None where nobody holds it or signed."""
    said = noted(lock)
    if (who := signed_by(said)) is None or not (_is_this_process(who) or is_held(lock)):
        return None
    try:
        left = None if said["left"] is None else float(said["left"])
        return UnderWay(who, Reached(str(said["title"]), int(said["step"]), int(said["steps"]), left))
    except (KeyError, TypeError, ValueError):
        return UnderWay(who, None)


def grouped_by_process(runs: Iterable[RunFolder]) -> list[Group]:
    """Those of `runs` that processes are computing, the process with the most left first."""
    groups: dict[tuple[str, int], Group] = {}
    for run in runs:
        if (found := under_way(run.lock.path)) is not None:
            groups.setdefault((found.who.host, found.who.pid), Group(found, [])).runs.append(run)
    return sorted(groups.values(), key=lambda group: -group.process.left)


def works_of_others(runs: Iterable[RunFolder]) -> list[Reached]:
    """How far each other process is that computes some of `runs`, those that have said so."""
    # A process holds the locks of its finished runs, too, whose notes are old.
    left = (run for run in runs if not (run.path / "summary.json").exists())
    processes = [group.process for group in grouped_by_process(left)]
    return [each.work for each in processes if each.work and not _is_this_process(each.who)]


def _is_this_process(who: Holder) -> bool:
    """Whether it is this process that holds a lock, which then must not ask for it by `flock`.

    Some file systems give a lock back where any of a process's descriptors of the file is closed.
    """
    return (who.host, who.pid) == (platform.node(), os.getpid())
