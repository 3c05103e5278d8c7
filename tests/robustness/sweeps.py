"""A sweep of tiny runs that is disturbed, then repeated in peace, and what became of its runs."""

from __future__ import annotations

import multiprocessing
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from runner.__main__ import main
from runner.store.run_store import Store
from tests.robustness.trial import Trial
from tests.support.commands import rows_by_run

SWEEP = (
    "-m",
    "target=bernoulli4",
    "sampler=gibbs,dmala",
    "metric=[tv,jump]",
    "task.steps=60",
    "task.chains=3,4",
    "task.record=3",
    "seed=range(0,3)",
    "checkpoint.steps=20",
)
"""Four jobs of three runs; two of the jobs wait for a tuned step size."""

RUNS = 12
PATIENCE = 600.0
"""Seconds after which a command counts as hanging."""

Rows = dict[str, list[tuple[str, ...]]]
fork = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Said:
    """How a command ended, and all that it printed; status -9 for one that was killed."""

    status: int | None
    text: str

    @property
    def done(self) -> int:
        """How many runs it says that it has computed."""
        return sum(int(number) for number in re.findall(r"^(\d+) runs? done", self.text, re.MULTILINE))

    @property
    def last(self) -> str:
        """Its last sentences."""
        return f"status {self.status}: {self.text[-600:]}"


class Command:
    """The sweep in a forked process, which has torch already.

    Args:
        root: the output root.
        said: the file for what it prints.
        before: called in the process first: a shim.
    """

    def __init__(
        self,
        root: Path,
        said: Path,
        before: Callable[[], object] = lambda: None,
        more: Sequence[str] = (),
    ) -> None:
        self.said = said
        argv = (*SWEEP, f"output_root={root}", *more)

        def child() -> None:
            # pytest may have put others in the place of both.
            sys.stdout = sys.stderr = said.open("w", buffering=1)
            try:
                before()
                status = main(argv)
            except BaseException:
                traceback.print_exc()
                status = 1
            sys.stdout.flush()
            os._exit(status)

        self.process: BaseProcess = fork.Process(target=child)
        self.process.start()

    def end(self) -> Said:
        """Waits for its end."""
        self.process.join(PATIENCE)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
            return Said(None, f"it hung for {PATIENCE:g} s")
        return Said(self.process.exitcode, self.said.read_text(errors="replace"))


def undisturbed(folder: Path) -> Rows:
    """The rows of the sweep where nothing happens to it."""
    return rows_of_all(folder / "undisturbed", Command(folder / "undisturbed", folder / "said").end())


def rows_of_all(root: Path, ended: Said) -> Rows:
    """The rows of a sweep to `root` that has `ended` well."""
    assert ended.status == 0, ended.text
    expected = rows_by_run(root)
    assert len(expected) == RUNS
    return expected


def finished(root: Path) -> dict[Path, int]:
    """When each finished run was written."""
    return {
        path: path.stat().st_mtime_ns
        for path in sorted(root.glob("runs/*/summary.json"))
        if Store(root).run(path.parent.name).summary() is not None
    }


def judged(
    kind: str,
    root: Path,
    expected: Rows,
    disturbed: Sequence[Said],
    repeat: Callable[[], Said],
    words: Sequence[str] = ("",),
) -> Trial:
    """What became of a sweep that was disturbed: its files are looked at, the command repeated in peace.

    Args:
        disturbed: how the commands ended that were disturbed: each must end by itself, and with 0 only where
            all runs are there and right.
        words: one of them is in what a command says that ends with another status.
    """
    for said in disturbed:
        if "Traceback" in said.text:
            return Trial(kind, "traceback", said.last)
        told = bool(said.text.strip()) and any(word in said.text for word in words)
        if said.status is None or (said.status not in (0, -9) and not told):
            return Trial(kind, "silent", f"it ended without the right word: {said.last}")
    before = finished(root)
    complete = len(before) == RUNS and rows_by_run(root) == expected
    said = disturbed[-1]
    if said.status == 0 and not complete:
        return Trial(kind, "silent", f"status 0, {len(before)} of {RUNS} runs are there: {said.last}")
    if sum(said.done for said in disturbed) > RUNS:
        return Trial(kind, "doubled", f"{[said.done for said in disturbed]} runs done, there are {RUNS}")
    again = repeat()
    if "Traceback" in again.text:
        return Trial(kind, "traceback", again.last)
    if again.status != 0:
        return Trial(kind, "lost", f"the repetition does not mend it: {again.last}")
    after = finished(root)
    if any(after.get(path) != written for path, written in before.items()):
        return Trial(kind, "doubled", f"a finished run was computed again: {again.last}")
    found = rows_by_run(root)
    if set(found) != set(expected):
        return Trial(kind, "lost", f"{len(found)} of {RUNS} runs are there: {again.last}")
    if found != expected:
        return Trial(kind, "silent", f"other numbers: {again.last}")
    left = [path.name for path in root.rglob("*.partial")]
    return Trial(kind, "lost" if left else "clean", f"{', '.join(left)} left" if left else said.last)
