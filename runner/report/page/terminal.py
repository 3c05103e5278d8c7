"""A table's page on the terminal."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from typing import IO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.report.page.layout import Cell, MetricBlock, Page
from runner.report.page.markdown import SUPERSCRIPT, block_title, cell_text, column_titles, label_text

WIDE_ENOUGH = 10_000

BEST = "*"
"""Marks the best number where nothing can be bold."""


def show_page(page: Page, file: IO[str] | None = None) -> None:
    """Prints the page; a table that is too wide for the terminal in parts, elsewhere as a whole."""
    console = Console(file=file or sys.stdout, highlight=False)
    if not console.is_terminal:
        console = Console(file=file or sys.stdout, highlight=False, width=WIDE_ENOUGH)
    best = "" if console.is_terminal else BEST
    console.print(Text(page.title, style="bold"))
    console.print(Text(page.caption))
    for block in page.blocks:
        console.print()
        console.print(Text(block_title(block), style="bold cyan"))
        for part, columns in enumerate(_parts(block, best, console)):
            if part:
                console.print()
            console.print(_block(block, best, columns))
    for finding in page.findings:
        console.print(Text(finding))
    console.print(Text(named_best(" ".join(page.legend), best), style="dim"))
    for mark, text in page.footnotes:
        console.print(Text(f"{mark.translate(SUPERSCRIPT)} {text}".strip(), style="dim"))
    console.print(Text(page.coverage, style="green" if page.rest is None else "yellow"))
    if page.rest:
        console.print(Text(f"For the rest: {page.rest}"))


def named_best(legend: str, best: str) -> str:
    """The legend with the mark `best` in the place of bold; nothing is replaced by an empty one.

    The spread of published numbers, which the page has, is left to the files.
    """
    legend = legend.replace("with the spread printed there", "without the spread, which the files have")
    return legend.replace("Bold:", f"{best}:") if best else legend


def _parts(block: MetricBlock, best: str, console: Console) -> list[list[int]]:
    """The columns of the block in parts that the terminal has room for, a published number with ours."""
    wide = console.options.update(width=WIDE_ENOUGH)

    def fits(columns: list[int]) -> bool:
        return console.measure(_block(block, best, columns), options=wide).maximum <= console.width

    places = itertools.count()
    groups = [[next(places) for _ in group.heads] for group in block.groups]
    if fits(everything := list(itertools.chain(*groups))):
        return [everything]
    units = [unit for group in groups for unit in ([group] if fits(group) else [[each] for each in group])]
    parts: list[list[int]] = [[]]
    for unit in units:
        if parts[-1] and not fits([*parts[-1], *unit]):
            parts.append([])
        parts[-1] += unit
    return parts


def _block(block: MetricBlock, best: str, columns: list[int]) -> Table:
    """These columns of the block, its best numbers marked by `best`, without the spread of published ones."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    table.add_column("", no_wrap=True)
    titles = column_titles(block)
    for place in columns:
        table.add_column(Text(titles[place]), justify="right", no_wrap=True)
    for line, following in zip(block.lines, [*block.lines[1:], None], strict=True):
        texts = [
            Text(
                cell_text(_marked(cell, best), spread=cell is None or not cell.published),
                style="bold green" if cell and cell.bold else "dim" if cell and cell.published else "",
            )
            for cell in (line.cells[place] for place in columns)
        ]
        table.add_row(Text(label_text(line.label)), *texts, end_section=bool(following and following.rule))
    return table


def _marked(cell: Cell | None, best: str) -> Cell | None:
    return replace(cell, marks=(best, *cell.marks)) if cell and cell.bold and best else cell
