"""``python -m tests.robustness.measure [--scale X] [--only ROW ...]``: what is broken, and where that ends.

Prints a table of trials and what they ended in. What was measured stands in the file ``--kept``, so that an
interrupted measurement continues where it stopped; ``--scale 0.01`` is a look at it in a minute. The exit
status is 1 if anything was lost, doubled or silent, or ended in a traceback.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from runner.execution.atomic_files import read_json, write_json
from runner.execution.manifest import git, now
from tests.robustness.rows import ROWS, Row
from tests.robustness.trial import OUTCOMES

BAD = OUTCOMES[1:]
EVERY = 5.0
"""Seconds between two writes of what was measured."""


class Measured:
    """What was measured so far, as the file at `path` holds it.

    Attributes:
        parts: by row and part, the number of each outcome and the seconds that it took.
        bad: row, part and words of each trial that is not clean.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        found = read_json(path) if path.exists() else {}
        if found is None:
            raise SystemExit(f"{path} is damaged: give another file with --kept, or remove it.")
        self.parts: dict[str, dict[str, dict[str, float]]] = found.get("parts", {})
        self.bad: list[list[str]] = found.get("bad", [])
        self.sources: list[Any] = [source for source in found.get("sources", []) if source != git()]

    def write(self) -> None:
        """Puts it on the disk, with the commits that were measured and the time."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = {"parts": self.parts, "bad": self.bad, "sources": [*self.sources, git()], "measured": now()}
        write_json(self.path, content)

    def of(self, row: Row) -> Counter[str]:
        """The number of each outcome in a row."""
        total: Counter[str] = Counter()
        for found in self.parts.get(row.name, {}).values():
            total.update({outcome: int(found.get(outcome, 0)) for outcome in OUTCOMES})
        return total

    def measure(self, row: Row, part: str, number: int) -> None:
        """Makes the trials of a part that are missing to `number`."""
        found = self.parts.setdefault(row.name, {}).setdefault(part, {})
        done, last = sum(int(found.get(outcome, 0)) for outcome in OUTCOMES), time.monotonic()
        if done >= number:
            return
        written = last
        for trial in row.trials(number - done, part, done):
            found[trial.outcome] = found.get(trial.outcome, 0) + 1
            if trial.outcome != "clean":
                self.bad.append([row.name, part, trial.kind, trial.outcome, trial.said])
                print(f"{row.name}, {trial.kind}: {trial.outcome}\n{trial.said}", flush=True)
            at = time.monotonic()
            found["seconds"], last = found.get("seconds", 0.0) + at - last, at
            if at - written > EVERY:
                self.write()
                written = at
        self.write()


def table(measured: Measured, rows: Sequence[Row]) -> str:
    """The table in Markdown."""
    lines = [f"| what is broken | trials | {' | '.join(BAD)} |", f"| :-- {'| --: ' * (len(BAD) + 1)}|"]
    for row in rows:
        found = measured.of(row)
        numbers = [found.total(), *(found[outcome] for outcome in BAD)]
        lines.append(f"| {row.what} | {' | '.join(f'{number:,}' for number in numbers)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.robustness.measure", description=__doc__)
    names = ", ".join(row.name for row in ROWS)
    parser.add_argument(
        "--only", nargs="+", default=["*"], help=f"rows that fit a pattern of the shell: {names}"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="share of the trials of each row (1)")
    parser.add_argument("--kept", type=Path, default=Path("build/robustness.json"), help="what was measured")
    parser.add_argument("--show", action="store_true", help="print the table of what was measured, and end")
    given = parser.parse_args(arguments)
    measured = Measured(given.kept)
    rows = [row for row in ROWS if any(fnmatch(row.name, pattern) for pattern in given.only)]
    for row in () if given.show else rows:
        for part, number in row.parts.items():
            measured.measure(row, part, max(1, round(given.scale * number)))
    print(table(measured, rows))
    return int(any(measured.of(row)[outcome] for row in rows for outcome in BAD))


if __name__ == "__main__":
    sys.exit(main())
