"""Long work that may stop anywhere and go on later with the same numbers, and the one loop for all of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from runner.execution import signals
from runner.execution.errors import RunError, warn
from runner.execution.live import say_state
from runner.execution.manifest import source
from runner.execution.progress import current
from runner.files.atomic_files import remove_partial, set_aside
from runner.files.checkpoint import (
    UnusableCheckpointError,
    checkpoint_sources,
    load_checkpoint,
    of_the_moment,
    save_checkpoint,
)
from runner.integrity.source import distinct_sources, named


class Resumable(Protocol):
    """Work in blocks that can be saved between any two of them."""

    @property
    def title(self) -> str:
        """What the work is, for the progress on the terminal."""
        ...

    @property
    def total(self) -> int:
        """Its length in steps, iterations or epochs."""
        ...

    @property
    def position(self) -> int:
        """How much of it is done, in the unit of `total`."""
        ...

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        ...

    def advance(self) -> None:
        """Does the next block, which takes seconds at most."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Everything that the rest of the work depends on."""
        ...

    def load_state_dict(self, saved: Mapping[str, Any], /) -> None:
        """Continues where `saved` was; raises any exception if it is no state of this work."""
        ...


Work = TypeVar("Work", bound=Resumable)


@dataclass(frozen=True)
class SavePlan:
    """Where and when unfinished work is saved.

    Attributes:
        path: the checkpoint.
        seconds: after so many seconds since the last save ...
        steps: ... or so many steps of the work, if given.
        after_failure: whether the state before a block that raised a `RunError` is saved.
        owner: what the checkpoint also holds; one with other values belongs to other work.
    """

    path: Path
    seconds: float
    steps: int | None = None
    after_failure: bool = False
    owner: Mapping[str, Any] = field(default_factory=dict)

    def save(self, state: Mapping[str, Any]) -> None:
        """Writes `state` in place of the checkpoint, from which the work has gone on."""
        save_checkpoint(self.path, {**self.owner, **state}, sources_of(self.path))

    def load(self) -> dict[str, Any]:
        """The state in the checkpoint.

        Raises:
            UnusableCheckpointError: if it cannot be read or belongs to other work.
        """
        saved = load_checkpoint(self.path)
        if any(saved.pop(key, None) != value for key, value in self.owner.items()):
            raise UnusableCheckpointError("belongs to other work")
        return saved


def sources_of(checkpoint: Path) -> list[dict[str, Any]]:
    """The source code of the work that is in a checkpoint, or was taken up from it, and goes on here.

    One, unless somebody has changed the code while the work was interrupted.
    """
    return distinct_sources([*checkpoint_sources(checkpoint), source()])


def save_plan(path: Path, settings: Any, **more: Any) -> SavePlan:
    """The plan of the configuration's node `checkpoint`, for `path`; `more` as of `SavePlan`."""
    return SavePlan(path, settings.seconds, settings.steps, **more)


@contextmanager
def completed(begin: Callable[[], Work], plan: SavePlan) -> Iterator[Work]:
    """The work at its end, for the body to write its result; then the checkpoint is removed.

    A signal that comes while the body runs takes effect after it.

    Args:
        begin: gives the work before its first block.

    Raises:
        Interrupted: if the process was told to stop; what was reached is saved.
    """
    with signals.deferred():
        yield _advanced(begin, plan)
        plan.path.unlink(missing_ok=True)


def run_to_end(begin: Callable[[], Work], plan: SavePlan) -> Work:
    """The work at its end, also saved there: the caller removes the checkpoint when it has its result.

    Raises:
        Interrupted: if the process was told to stop; what was reached is saved.
    """
    with signals.deferred():
        work = _advanced(begin, plan)
        plan.save(work.state_dict())
    return work


def discard_checkpoint(path: Path, why: str) -> None:
    """Sets a checkpoint aside that cannot be used, with one sentence of warning."""
    warn(
        f"the checkpoint {path} cannot be used: it {why}; it was moved to {set_aside(path)}, "
        "the work starts from the beginning."
    )


def _advanced(begin: Callable[[], Work], plan: SavePlan) -> Work:
    """The work after its last block, taken up from its checkpoint where there is one."""
    work, progress = _restored(begin, plan), current()
    progress.start(work.title, work.total, work.position)
    say_state(work.title)
    saved_at, saved_position = time.monotonic(), work.position
    try:
        while not work.done:
            good = work.state_dict() if plan.after_failure else None
            try:
                work.advance()
            except RunError:
                if good is not None:
                    plan.save(good)
                raise
            progress.at(work.position, work.total, work.title)
            due = time.monotonic() - saved_at >= plan.seconds
            due |= plan.steps is not None and work.position - saved_position >= plan.steps
            if due or signals.stop_wanted():
                plan.save(work.state_dict())
                saved_at, saved_position = time.monotonic(), work.position
            signals.obey()
    finally:
        progress.stop()
    return work


def _restored(begin: Callable[[], Work], plan: SavePlan) -> Work:
    remove_partial(plan.path.parent, plan.path.name)
    work = begin()
    if not plan.path.exists():
        return work
    try:
        work.load_state_dict(plan.load())
    except Exception as error:
        if of_the_moment(error):
            raise
        known = isinstance(error, UnusableCheckpointError)
        discard_checkpoint(plan.path, str(error) if known else "does not fit this work")
        # What was loaded of it may be half of a state.
        return begin()
    others = [each for each in checkpoint_sources(plan.path) if each["source"] != source()["source"]]
    if others:
        warn(
            f"the checkpoint {plan.path} was written by other source code, {named(others[-1])}; the work "
            f"goes on with {named(source())}, and its results name both."
        )
    return work
