"""The rows of the table: what is broken on purpose, how often, and the trials that do it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.corruption import trials as corruption
from tests.corruption.stores import STORES
from tests.robustness import file_systems, fuzz, kills, workers
from tests.robustness.trial import Trial

Trials = Callable[[int, str, int], Iterator[Trial]]
"""From a number, a part and a seed: so many trials, another seed for other ones."""


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Attributes:
        name: for ``--only``.
        what: is broken.
        parts: kinds of trials, and how many of each the whole measurement has.
        trials: makes them.
    """

    name: str
    what: str
    parts: dict[str, int]
    trials: Trials


def damaged_files(number: int, part: str, seed: int = 0) -> Iterator[Trial]:
    """Damages of one kind of file: one flipped bit, or more, lost ends and blocks."""
    bad = {corruption.SILENT: "silent", corruption.STUCK: "lost"}
    for trial in corruption.trials([part], number, seed):
        outcome = bad.get(trial.outcome, "clean")
        if outcome != "clean" and "Traceback" in trial.said:
            outcome = "traceback"
        yield Trial(f"{part}, {trial.way}", outcome, trial.said)


def _kinds(stores: Sequence[str]) -> dict[str, int]:
    return {kind: 300 for store in stores for kind in STORES[store].kinds}


def fuzzed(number: int, part: str, seed: int = 0) -> Iterator[Trial]:
    """Random overrides through the whole command line."""
    return fuzz.trials(number, seed)


ROWS = (
    Row(
        "kills",
        "processes killed: at random instants, before file-system events, in the middle of writes",
        {kills.INSTANT: 500, kills.EVENT: 350, kills.WRITE: 150},
        kills.trials,
    ),
    Row("files", "files damaged, 300 of every kind", _kinds(list(STORES)), damaged_files),
    Row("workers", "workers of joblib and of Ray killed", dict.fromkeys(workers.KINDS, 100), workers.trials),
    Row(
        "file_systems",
        "disks full, without inodes, read-only, stale, removed; no `flock`",
        dict.fromkeys(file_systems.KINDS, 40),
        file_systems.trials,
    ),
    Row("fuzz", "random overrides on the command line", {"fuzz": 1000}, fuzzed),
)
