"""How many runs have each status, as a table on the terminal, and how far those are that are running."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from runner.report.selection.grid import ordered, places_of
from runner.report.selection.stored_runs import StoredRun
from runner.store.run_folder import STATUSES, RunFolder
from runner.store.under_way import UnderWay, under_way

WIDE = 160
"""Columns of a table that is no terminal's."""

LOST = ("unknown: no readable config.yaml", "")
"""The row and cell of damaged runs whose settings are lost."""

SHOWN = 20
"""Of so many processes it is said how far they are; of the others, how many they are."""

Running = tuple[tuple[str, str], int, RunFolder]
"""The row and cell of a run that a process is computing, its seed and its folder."""

Lines = dict[tuple[str, str], Counter[str]]
"""How many runs have each status, by row and cell."""


def lines_of_runs(runs: Sequence[StoredRun], lost: int = 0) -> Lines:
    """The counts of any runs, by their varied settings, and of so many whose settings are lost."""
    places = places_of(runs)
    counts: Lines = {}
    for run, place in zip(runs, places.labels, strict=True):
        counts.setdefault(place, Counter())[run.status] += 1
    rows, cells = (ordered(dict.fromkeys(labels), places.settings) for labels in zip(*counts, strict=True))
    lines = {(row, cell): counts[row, cell] for row in rows for cell in cells if (row, cell) in counts}
    return lines | ({LOST: Counter(damaged=lost)} if lost else {})


def running_of(runs: Sequence[StoredRun]) -> list[Running]:
    """Those of any runs that a process is computing, with their places."""
    labels = places_of(runs).labels
    return [
        (place, run.seed, run.folder)
        for run, place in zip(runs, labels, strict=True)
        if run.status == "running"
    ]


def table_of(title: str, lines: Lines) -> Table:
    """One line per row and cell, and their sum: a column for each status that a run has, and always ``done``.

    Where there is little room the words wrap and the counts do not.
    """
    table = Table(title=title, title_justify="left", header_style="bold", show_footer=True)
    total = sum(lines.values(), Counter[str]())
    shown = [status for status in STATUSES if total[status] or status == "done"]
    table.add_column("row", footer="all", overflow="fold")
    table.add_column("cell", overflow="fold")
    for status in shown:
        table.add_column(status, justify="right", footer=str(total[status]), no_wrap=True)
    for (row, cell), counts in lines.items():
        table.add_row(row, cell, *(str(counts[status] or "") for status in shown))
    return table


def show_statuses(title: str, lines: Lines) -> None:
    """Prints the table of `lines`."""
    fits = sys.stdout.isatty() or "COLUMNS" in os.environ
    # Labels and values are shown as they are, [ ] among them.
    console = Console(width=None if fits else WIDE, markup=False, emoji=False, highlight=False)
    console.print(table_of(title, lines))


def show_under_way(runs: Iterable[Running]) -> None:
    """Prints how far each process is that computes some of `runs`, the one with the most left first."""
    seeds: dict[tuple[tuple[str, str], str, int], list[int]] = {}
    found: dict[tuple[tuple[str, str], str, int], UnderWay] = {}
    for place, seed, folder in runs:
        if (each := under_way(folder.lock.path)) is not None:
            key = (place, each.who.host, each.who.pid)
            seeds.setdefault(key, []).append(seed)
            found[key] = each
    lines = [
        f"{_label(key[0], seeds[key])}: {each.work or 'has begun'} (process {each.who.pid}, {each.who.host})"
        for key, each in sorted(found.items(), key=lambda item: -_seconds_left(item[1]))
    ]
    print(*lines[:SHOWN], sep="\n", end="\n" if lines else "")
    if len(lines) > SHOWN:
        print(f"and {len(lines) - SHOWN} other processes")


def _label(place: tuple[str, str], seeds: Sequence[int]) -> str:
    number = "seed" if len(seeds) == 1 else "seeds"
    return ", ".join([*filter(None, place), f"{number} {', '.join(map(str, seeds))}"])


def _seconds_left(each: UnderWay) -> float:
    return math.inf if each.work is None or each.work.left is None else each.work.left
