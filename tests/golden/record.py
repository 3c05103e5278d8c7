"""Records expected values, or compares what is computed now with them.

``python -m tests.golden.record [--only PATTERN] [--out FOLDER]`` computes and writes,
``python -m tests.golden.compare [--only PATTERN] [--permanent]`` computes and prints every difference.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import torch

from tests.golden import expectation
from tests.golden.cases import CASES, EXPERIMENT_GROUP, EXPERIMENTS, is_sensitive, is_solved
from tests.golden.computing import GoldenError, StoppedError, compute, compute_experiment, temporary_folder
from tests.golden.expectation import FOLDER, Expected, differences
from tests.golden.machine import commit, described, machine, same
from tests.golden.reading import Result


@dataclass(frozen=True)
class Computed:
    """A case with what it gives, or why it gives nothing."""

    name: str
    result: Result | None
    failure: str = ""
    seconds: float = 0.0

    @property
    def group(self) -> str:
        """The file of expected values that it belongs to."""
        return self.name.split("/")[0]


def computed(pattern: str, permanent: bool = False) -> Iterator[Computed]:
    """What each case and experiment of a pattern gives, one after the other, with progress on stderr."""
    torch.set_num_threads(1)
    chosen = [case for case in CASES if fnmatch(case.name, pattern) and (case.permanent or not permanent)]
    experiments = [name for name in EXPERIMENTS if fnmatch(f"{EXPERIMENT_GROUP}/{name}", pattern)]
    experiments = [] if permanent else experiments
    number = len(chosen) + len(experiments)
    started = time.monotonic()
    with temporary_folder() as shared:
        computations: list[tuple[str, Callable[[Path], Result]]] = [
            *((case.name, partial(compute, case)) for case in chosen),
            *(
                (f"{EXPERIMENT_GROUP}/{name}", lambda _, name=name: compute_experiment(name, shared))
                for name in experiments
            ),
        ]
        for place, (name, computation) in enumerate(computations, 1):
            with temporary_folder() as folder:
                each = _computed(name, partial(computation, folder))
            state = f"{each.seconds:.2f} s" if each.result is not None else "failed"
            passed = f"{time.monotonic() - started:.0f} s"
            print(f"[{place}/{number}, {passed}] {each.name}: {state}", file=sys.stderr, flush=True)
            yield each


def _computed(name: str, computation: Callable[[], Result]) -> Computed:
    started = time.monotonic()
    try:
        return Computed(name, computation(), seconds=time.monotonic() - started)
    except StoppedError:
        raise
    except Exception as error:
        said = str(error) if isinstance(error, GoldenError) else f"{type(error).__name__}: {error}"
        return Computed(name, None, said)


def record(pattern: str, folder: Path) -> int:
    """Computes the cases of a pattern and writes them; those of other names stay as they are.

    A group that is recorded as a whole loses the cases that there no longer are.
    """
    here, head = machine(), commit()
    new: dict[str, dict[str, Expected]] = {}
    failed = 0
    for each in computed(pattern):
        if each.result is None:
            failed += 1
            print(f"{each.name}: {each.failure}", file=sys.stderr)
        else:
            new.setdefault(each.group, {})[each.name] = Expected(here, head, each.result)
    names = {case.name for case in CASES} | {f"{EXPERIMENT_GROUP}/{name}" for name in EXPERIMENTS}
    for group, found in new.items():
        kept = {name: each for name, each in expectation.load(group, folder).items() if name in names}
        path = expectation.save(group, kept | found, folder)
        print(f"{len(found)} of {len(kept | found)} cases recorded in {path}")
    if failed:
        print(f"{failed} cases failed and were not recorded.")
    return 1 if failed else 0


def compare(pattern: str, folder: Path, *, permanent: bool = False) -> int:
    """Computes the cases of a pattern anew and prints every difference; 1 if there is any."""
    here = machine()
    found = cases = 0
    for each in computed(pattern, permanent):
        cases += 1
        expected = expectation.load(each.group, folder).get(each.name)
        if expected is None:
            found += 1
            print(f"{each.name}: nothing is recorded")
            continue
        if each.result is None:
            found += 1
            print(f"{each.name}: failed; {each.failure}")
            continue
        if not same(expected.machine, here):
            print(
                f"{each.name}: recorded on another machine ({described(expected.machine)})", file=sys.stderr
            )
        kind = {"solved": is_solved(each.name), "sensitive": is_sensitive(each.name)}
        closeness = expected.closeness(here, **kind)
        for difference in differences(each.name, expected.result, each.result, closeness):
            found += 1
            print(difference, flush=True)
    print(f"{cases} cases compared, {found} differences.")
    return 1 if found else 0


def main(arguments: Sequence[str] | None = None, *, comparing: bool = False) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", default="*", metavar="PATTERN", help="names of cases, such as 'tempering/*'"
    )
    parser.add_argument(
        "--out" if not comparing else "--expected", dest="folder", type=Path, default=FOLDER, metavar="FOLDER"
    )
    if comparing:
        parser.add_argument(
            "--permanent", action="store_true", help="only the cases of the test that always runs"
        )
    given = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    folder = given.folder.absolute()
    try:
        if comparing:
            return compare(given.only, folder, permanent=given.permanent)
        return record(given.only, folder)
    except StoppedError:
        print("Stopped; nothing was written.", file=sys.stderr)
        return 75


if __name__ == "__main__":
    sys.exit(main())
