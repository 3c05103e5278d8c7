"""A result on disk that the first process to need it makes, while the others wait."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from runner.execution.errors import warn
from runner.files.atomic_files import SUFFIX, set_aside
from runner.files.locks import held

Value = TypeVar("Value", covariant=True)


class Reader(Protocol[Value]):
    """Reads a result that may not be there."""

    def __call__(self, *, locked: bool = False) -> Value | None:
        """The result, or None where there is none or it cannot be read.

        Args:
            locked: whether this process holds the lock; only then is a damaged file set aside
                (`discard_damaged`), since to others it may be whole again by then.
        """
        ...


def compute_once(lock: Path, read: Reader[Value], make: Callable[[], object]) -> Value:
    """What `read` finds; where it finds nothing, `make` writes it, in one process at a time.

    The value is always the one that was read, so that the process that made it has the same as all others.

    Args:
        lock: the lock's file; its folder is made if need be.

    Raises:
        RuntimeError: if `read` does not find what `make` wrote.
    """
    found = read()
    if found is None:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with held(lock):
            _remove_partial(lock)
            found = read(locked=True)
            if found is None:
                make()
                found = read(locked=True)
    if found is None:
        raise RuntimeError(f"what was written beside {lock} could not be read")
    return found


def _remove_partial(lock: Path) -> None:
    """Removes what a killed holder of the lock had written half: a file belongs to the lock of its name.

    A file without one belongs to its folder's, which is called `lock`.
    """
    for path in lock.parent.glob(f"*{SUFFIX}"):
        own = path.with_name(f"{path.name.split('.', 1)[0]}.lock")
        if (own if own.exists() else lock.with_name("lock")) == lock:
            path.unlink(missing_ok=True)


def discard_damaged(path: Path, why: str, *beside: Path, locked: bool) -> None:
    """Sets aside a file that cannot be read, with one sentence of warning, if the lock is held.

    Args:
        why: what is wrong with it.
        beside: files that were made with it and are set aside with it, those that are there.
    """
    if locked:
        warn(f"{path} cannot be read ({why}); it was moved to {set_aside(path)} and is made again.")
        for other in beside:
            if other.exists():
                set_aside(other)
