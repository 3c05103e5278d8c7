"""``python -m tests.corruption.measure [--number N] [--only PATTERN ...]``: N damages of every kind of file.

Prints a table of the outcomes. The exit status is 1 if any damage was silent, or a command could not go on
after it. 300 of every kind took 112 minutes on two cores that had much other work.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatch

from tests.corruption.stores import STORES
from tests.corruption.trials import FOUND, HARMLESS, SILENT, STUCK, Trial, counted, trials

OUTCOMES = (FOUND, HARMLESS, SILENT, STUCK)
KINDS = [kind for store in STORES.values() for kind in store.kinds]


def table(counts: dict[str, Counter[str]]) -> str:
    """A line for each kind of file, and their sum."""
    width = max(map(len, [*counts, "all"]))
    total: Counter[str] = sum(counts.values(), Counter())
    lines = [" ".join([f"{'file':{width}}", *(f"{outcome:>9}" for outcome in OUTCOMES)])]
    for kind, found in {**counts, "all": total}.items():
        lines.append(" ".join([f"{kind:{width}}", *(f"{found[outcome]:9}" for outcome in OUTCOMES)]))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.corruption.measure", description=__doc__)
    parser.add_argument("--number", type=int, default=300, help="damages of every kind (300)")
    parser.add_argument("--only", nargs="+", default=["*"], help="kinds that fit a pattern of the shell")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--show",
        action="store_true",
        help="print each kind when it is done, and what was said in every bad case",
    )
    given = parser.parse_args(arguments)
    kinds = [kind for kind in KINDS if any(fnmatch(kind, pattern) for pattern in given.only)]
    started, done = time.monotonic(), list[Trial]()
    for trial in trials(kinds, given.number, given.seed):
        if given.show and done and trial.kind != done[-1].kind:
            print(f"{done[-1].kind}: {dict(counted(done)[done[-1].kind])}", flush=True)
        done.append(trial)
        if given.show and trial.outcome in (SILENT, STUCK):
            print(f"{trial.kind}, {trial.way}: {trial.outcome}\n{trial.said}", flush=True)
    print(table(counted(done)))
    missed = [trial for trial in done if trial.outcome == FOUND and not trial.verified]
    print(f"python -m runner.verify missed {len(missed)} of those that were found.")
    for trial in missed:
        print(f"  {trial.kind}, {trial.way}")
    print(f"{len(done)} damages in {(time.monotonic() - started) / 60:.1f} minutes")
    return 1 if missed or any(trial.outcome in (SILENT, STUCK) for trial in done) else 0


if __name__ == "__main__":
    sys.exit(main())
