"""What the processes that compute runs have noted of their work, in the locks that they hold."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from runner.execution.reached import Reached
from runner.files.lock_holders import Holder, holder, is_held, noted
from runner.files.locks import Lock


@dataclass(frozen=True)
class UnderWay:
    """A process that computes runs, or makes what they need.

    Attributes:
        who: the process.
        work: how far it is; None if it has not said so yet.
    """

    who: Holder
    work: Reached | None


def note(locks: Sequence[Lock], work: Reached) -> None:
    """Writes into `locks`, which this process holds, how far it is."""
    for lock in locks:
        lock.note(asdict(work))


def under_way(lock: Path) -> UnderWay | None:
    """The process that holds the lock of a run, and how far it is; None where nobody holds it or signed."""
    who, said = holder(lock), noted(lock)
    if who is None or not is_held(lock):
        return None
    try:
        left = None if said["left"] is None else float(said["left"])
        return UnderWay(who, Reached(str(said["title"]), int(said["step"]), int(said["steps"]), left))
    except (KeyError, TypeError, ValueError):
        return UnderWay(who, None)


def works_of_others(locks: Iterable[Path]) -> list[Reached]:
    """How far each other process is that holds some of `locks`, those that have said so."""
    found = (each for each in map(under_way, locks) if each is not None)
    works = {(each.who.host, each.who.pid): each.work for each in found}
    works.pop((platform.node(), os.getpid()), None)
    return [work for work in works.values() if work is not None]
