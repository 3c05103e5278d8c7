"""The audit's outcome on the terminal, as CSV with one row per figure, and as Markdown."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.tools.audit.finding import Outcome

CSV_COLUMNS = (
    "finding",
    "title",
    "where",
    "source",
    "figure",
    "held_to",
    "low",
    "high",
    "notes",
    "measured",
    "standard_error",
    "standing",
    "test",
    "note",
)
MEANING = {
    "agrees": "agree with the notes",
    "fitted": "agree in a setting that was fitted to them",
    "holds": "keep a bound of ours",
    "not the notes' figure": "show the defect but are not the notes' figure",
    "FAILS": "FAIL",
}
"""What each standing of a figure means, in words that follow a number."""

COLOURS = {"reproduced": "green", "agrees": "green", "holds": "green", "FAILS": "bold red"}

WIDEST = 200
"""Columns that the table takes where the output is not a terminal."""


def summary(outcomes: Sequence[Outcome]) -> str:
    """How many figures stand how, and how long it took."""
    standings = Counter(figure.standing for outcome in outcomes for figure in outcome.figures)
    reproduced = sum(outcome.verdict == "reproduced" for outcome in outcomes)
    counts = ", ".join(f"{count} {MEANING[name]}" for name in MEANING if (count := standings[name]))
    seconds = sum(outcome.seconds for outcome in outcomes)
    return (
        f"{reproduced} of {len(outcomes)} findings reproduced in full. Of {standings.total()} figures: "
        f"{counts}. {seconds:.0f} s."
    )


def show(outcomes: Sequence[Outcome], console: Console) -> None:
    """Prints the table: a row per figure, the finding's title above its rows, its test below."""
    if not console.is_terminal:
        console = Console(file=console.file, width=WIDEST, highlight=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title, justify in (("finding", "left"), ("held to", "right"), ("measured", "right"), ("", "left")):
        table.add_column(title, justify="right" if justify == "right" else "left", overflow="fold")
    for number, outcome in enumerate(outcomes, start=1):
        finding = outcome.finding
        verdict = Text(outcome.verdict, style=COLOURS.get(outcome.verdict, "yellow"))
        table.add_row(Text(f"{number}. {finding.title}", style="bold"), "", "", verdict)
        table.add_row(Text(f"   {finding.where} ({finding.source})", style="dim"))
        for figure in outcome.figures:
            standing = Text(figure.standing, style=COLOURS.get(figure.standing, "yellow"))
            table.add_row(Text(f"     {figure.name}"), figure.held_to, figure.text, standing)
        if finding.note:
            table.add_row(Text(f"   {finding.note}", style="dim"))
        table.add_row(Text(f"   held by {finding.test}", style="dim"), end_section=True)
    console.print(table)
    console.print(summary(outcomes), highlight=False)


def as_csv(outcomes: Sequence[Outcome]) -> str:
    """One row per figure, full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for outcome in outcomes:
        finding = outcome.finding
        for figure in outcome.figures:
            expected = figure.expected
            writer.writerow(
                (
                    *(finding.key, finding.title, finding.where, finding.source, figure.name),
                    *(expected.text, expected.low, expected.high),
                    *("" if figure.stated is None else figure.stated, figure.measured),
                    "" if figure.error is None else figure.error,
                    *(figure.standing, finding.test, finding.note),
                )
            )
    return text.getvalue()


def as_markdown(outcomes: Sequence[Outcome]) -> str:
    """The same for a reader: one table, a row per figure."""
    lines = [
        "# Audit of papers and released code",
        "",
        summary(outcomes),
        "",
        "| finding | where | figure | held to | measured | standing | test |",
        "|---|---|---|---:|---:|---|---|",
    ]
    for number, outcome in enumerate(outcomes, start=1):
        finding = outcome.finding
        for place, figure in enumerate(outcome.figures):
            head = (f"{number}. {finding.title}", finding.where) if place == 0 else ("", "")
            test = f"`{finding.test}`" if place == 0 else ""
            cells = (
                *head,
                figure.name,
                figure.expected.text,
                figure.text,
                figure.standing,
                test,
            )
            lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    notes = [f"- {o.finding.title}: {o.finding.note}" for o in outcomes if o.finding.note]
    return "\n".join([*lines, "", "What the sources do not state, and what was chosen:", "", *notes, ""])
