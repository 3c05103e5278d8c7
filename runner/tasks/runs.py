"""Runs of one configuration and what passes between them and the runner: a batch, its results, its errors."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from runner.execution.errors import RunError

if TYPE_CHECKING:
    from runner.store.run_files import RunResult
    from runner.store.run_folder import RunFolder


class Trial(NamedTuple):
    """What a run will take.

    Attributes:
        seconds: of the run, without the training of its model.
        tuning_seconds: of the tuning before it, which the runs of a configuration share.
        evaluations: of the target by all its chains, tuning not counted.
    """

    seconds: float = 0.0
    tuning_seconds: float = 0.0
    evaluations: float = 0.0


class SeedError(RunError):
    """Some seeds of a batch cannot go on; the others are computed again without them."""

    def __init__(self, sentence: str, seeds: Sequence[int]) -> None:
        super().__init__(sentence)
        self.seeds = list(seeds)


class Batch(Protocol):
    """Runs that are computed together, as a task sees them."""

    folders: dict[int, RunFolder]
    """Run folder by seed, in the order of the batch."""

    @property
    def seeds(self) -> list[int]: ...
    @property
    def run_ids(self) -> list[str]: ...
    @property
    def checkpoint(self) -> Path: ...


class Runs(Protocol):
    """The runs of one configuration, ready to be computed: what `Task.start` gives."""

    def together(self, seeds: Sequence[int]) -> bool:
        """Whether these seeds share a batch, in which the numbers of each are those that it has alone."""
        ...

    def compute(self, batch: Batch) -> Generator[RunResult, None, None]:
        """What each run of `batch` measured, which the caller writes before it asks for the next.

        Raises:
            SeedError: if some of its seeds cannot go on.
            Interrupted: if the process was told to stop; what was reached is in the batch's checkpoint.
        """
        ...
