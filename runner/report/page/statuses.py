"""How many runs have each status, as a table on the terminal, and how far those are that are running."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from runner.report.selection.grid import ordered, places_of
from runner.report.selection.stored_runs import StoredRun
from runner.store.run_folder import STATUSES, RunFolder
from runner.store.under_way import grouped_by_process

WIDE = 160
"""Columns of a table that is no terminal's."""

LOST = ("unknown: no readable config.yaml", "")
"""The row and cell of runs whose settings are lost, or cannot be read now."""

SHOWN = 20
"""Of so many processes it is said how far they are; of the others, how many they are."""

Running = tuple[tuple[str, str], int, RunFolder]
"""The row and cell of a run that a process is computing, its seed and its folder."""

Lines = dict[tuple[str, str], Counter[str]]
"""How many runs have each status, by row and cell."""


def lines_of_runs(runs: Sequence[StoredRun], lost: Sequence[RunFolder] = ()) -> Lines:
    """The counts of any runs, by their varied settings, and of those whose settings are `lost`."""
    places = places_of(runs)
    counts: Lines = {}
    for run, place in zip(runs, places.labels, strict=True):
        counts.setdefault(place, Counter())[run.status] += 1
    labels = (dict.fromkeys(of_one) for of_one in zip(*counts, strict=True))
    rows = ordered(next(labels), places.row_settings)
    cells = ordered(next(labels), places.column_settings)
    lines = {(row, cell): counts[row, cell] for row in rows for cell in cells if (row, cell) in counts}
    return lines | ({LOST: Counter(folder.status() for folder in lost)} if lost else {})


def running_of(runs: Sequence[StoredRun]) -> list[Running]:
    """Those of any runs that a process is computing, with their places."""
    labels = places_of(runs).labels
    return [
        (place, run.seed, run.folder)
        for run, place in zip(runs, labels, strict=True)
        if run.status == "running"
    ]


def table_of(title: str, lines: Lines) -> Table:
    """One line per row and column of the experiment, and their sum; numbers of runs by status.

    A status that no run has is left out, but for ``done``. Where there is little room the words wrap and the
    counts do not.
    """
    table = Table(title=title, title_justify="left", header_style="bold", show_footer=True)
    total = sum(lines.values(), Counter[str]())
    shown = [status for status in STATUSES if total[status] or status == "done"]
    table.add_column("row", footer="all", overflow="fold")
    table.add_column("column", overflow="fold")
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


def show_under_way(runs: Sequence[Running]) -> None:
    """Prints how far each process is that computes some of `runs`, the one with the most left first."""
    places = {folder.run_id: (place, seed) for place, seed, folder in runs}
    groups = grouped_by_process(folder for _, _, folder in runs)
    for group in groups[:SHOWN]:
        place, _ = places[group.runs[0].run_id]
        seeds = sorted(places[run.run_id][1] for run in group.runs)
        named = f"seed{'s' * (len(seeds) > 1)} {' '.join(map(str, seeds))}"
        print(f"{', '.join((*filter(None, place), named))}: {group.process}")
    if len(groups) > SHOWN:
        print(f"and {len(groups) - SHOWN} other processes")
