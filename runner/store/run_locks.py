"""Which of some runs are this process's to compute: those whose locks it can take."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack

from runner.files.lock_holders import is_abandoned
from runner.files.locks import Lock, take_abandoned
from runner.store.run_folder import RunFolder

PROBE_SECONDS = 0.2
"""A lock that another process only looks at is free again after that long."""


def take_locks(folders: Mapping[int, RunFolder], locks: ExitStack) -> dict[int, RunFolder]:
    """Those of `folders`, by seed, that no other process is computing, locked until `locks` closes.

    Raises:
        OSError: if a folder or its lock cannot be made.
        UserError: if the file system gives out no locks.
    """
    mine: dict[int, RunFolder] = {}
    for folder in folders.values():
        folder.prepare()
    for attempt in range(2):
        mine |= {
            seed: folder
            for seed, folder in folders.items()
            if seed not in mine and _taken(folder.lock, locks)
        }
        if attempt or len(mine) == len(folders):
            break
        time.sleep(PROBE_SECONDS)
    crashed = [
        folder.lock for seed, folder in folders.items() if seed not in mine and is_abandoned(folder.lock.path)
    ]
    taken = []
    for lock in take_abandoned(crashed):
        locks.callback(lock.release)
        taken.append(lock)
    return {seed: folder for seed, folder in folders.items() if seed in mine or folder.lock in taken}


def _taken(lock: Lock, locks: ExitStack) -> bool:
    taken = lock.take()
    if taken:
        locks.callback(lock.release)
    return taken
