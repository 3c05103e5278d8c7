"""The table of a selection of runs: on the terminal, and as CSV, Markdown, LaTeX and a figure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from runner.report.analysis.table_entries import Summary, summarise
from runner.report.draw_figures import write_figures
from runner.report.page.grid_lines import show_grid
from runner.report.page.layout import lay_out
from runner.report.page.table_files import write_table
from runner.report.published import PublishedNumbers
from runner.report.selection.grid import Grid, grid_of
from runner.report.selection.grid_figures import add_intervals, left_out, left_out_of_lines, line_grid
from runner.report.selection.stored_runs import StoredRun
from runner.store.folder_digests import begin_changes, write_digests
from runner.store.short_hash import short_hash

LONGEST = 60
"""Letters of a folder's name that say what was selected."""


def show_runs(
    runs: Sequence[StoredRun], title: str, *, sort: str | None = None, everything: bool = False
) -> tuple[Grid, Summary]:
    """Prints the table of `runs`, see `runner.report.page.grid_lines.show_grid`.

    Raises:
        UserError: if there are none, or `sort` is no metric of theirs.
    """
    grid = grid_of(runs, title)
    grid.shape.metrics.sort(key=lambda metric: metric.metric != sort)
    summary = summarise(grid.shape, grid.results, PublishedNumbers({}))
    show_grid(grid, summary, sort=sort, everything=everything)
    return grid, summary


def write_runs(
    runs: Sequence[StoredRun],
    grid: Grid,
    summary: Summary,
    conditions: Sequence[str],
    root: Path,
    *,
    sort: str | None = None,
) -> Path:
    """Writes the table of `runs` and its figures below ``tables/runs`` of the output root.

    Prints what the figures do not show, which stands below the table, too. `sort` is a metric that they show.

    Returns:
        The folder, the same for the same `conditions`.
    """
    name = re.sub(r"[^A-Za-z0-9=,.]+", "_", " ".join(conditions))[:LONGEST].strip("_") or "all"
    folder = root / "tables" / "runs" / f"{name}-{short_hash({'conditions': list(conditions)})[:8]}"
    folder.mkdir(parents=True, exist_ok=True)
    earlier = begin_changes(folder)
    add_intervals(grid, sort)
    for sentence in (said := [*left_out(grid, sort), *left_out_of_lines(runs, grid)]):
        print(sentence)
    grid.shape.notes.extend(said)
    page = lay_out(grid.shape, summary, grid.results, "", "")
    files = write_table(folder, summary.records(grid.shape), page)
    figures = write_figures(grid.shape, grid.results, folder)
    if (lines := line_grid(runs, grid, sort)) is not None:
        figures += write_figures(lines.shape, lines.results, folder)
    write_digests(folder, [*files, *(path.name for path in figures)], earlier)
    return folder
