"""``python -m tests.robustness.measure [--scale X] [--only ROW ...]``: what is broken, and where that ends.

Prints a table of trials and what they ended in, and writes it beside the file ``--kept``, where what was
measured stands: an interrupted measurement continues where it stopped. ``--scale 0.01`` is a look at it in a
minute or two. The exit status is 1 if anything was lost, doubled or silent, or ended in a traceback.
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

from runner.execution.manifest import git, now
from runner.files.atomic_files import read_json, write_json, write_text
from tests.robustness.rows import ROWS, Row
from tests.robustness.trial import OUTCOMES

BAD = OUTCOMES[1:]
EVERY = 5.0
"""Seconds between two writes of what was measured."""


class Measured:
    """What was measured so far, as the file at `path` holds it.

    Attributes:
        parts: by row and part, the number of each outcome, the seconds that they took and the commits.
        bad: row, part, kind, outcome and words of each trial that is not clean.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        found = read_json(path) if path.exists() else {}
        if found is None:
            raise SystemExit(f"{path} is damaged: give another file with --kept, or remove it.")
        self.parts: dict[str, dict[str, dict[str, Any]]] = found.get("parts", {})
        self.bad: list[list[str]] = found.get("bad", [])

    def write(self) -> None:
        """Puts it on the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_json(self.path, {"parts": self.parts, "bad": self.bad})
        write_text(self.path.with_suffix(".md"), f"{table(self, ROWS)}\n")

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
        commit = f"{str(git()['commit'])[:7]}{' and changes' if git()['dirty'] else ''}, {now()[:10]}"
        found["commits"] = [*(one for one in found.get("commits", []) if one != commit), commit]
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
    """The table in Markdown, a line for each row that has trials."""
    names = ("row", "what is broken", "trials", *BAD, "minutes", "commit, date")
    lines = [f"| {' | '.join(names)} |", f"| :-- | :-- {'| --: ' * (len(BAD) + 2)}| :-- |"]
    for row in rows:
        found, parts = measured.of(row), measured.parts.get(row.name, {}).values()
        if not found.total():
            continue
        numbers = [f"{number:,}" for number in (found.total(), *(found[outcome] for outcome in BAD))]
        minutes = f"{sum(part.get('seconds', 0.0) for part in parts) / 60:.1f}"
        commits = "; ".join(dict.fromkeys(commit for part in parts for commit in part.get("commits", [])))
        lines.append(f"| `{row.name}` | {row.what} | {' | '.join([*numbers, minutes, commits])} |")
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
    measured = Measured(given.kept.absolute())  # a row may change the folder
    rows = [row for row in ROWS if any(fnmatch(row.name, pattern) for pattern in given.only)]
    for row in () if given.show else rows:
        for part, number in row.parts.items():
            measured.measure(row, part, max(1, round(given.scale * number)))
    print(table(measured, rows))
    return int(any(measured.of(row)[outcome] for row in rows for outcome in BAD))


if __name__ == "__main__":
    sys.exit(main())
