"""The audit on the terminal, as CSV with one row per figure, and as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.files.csv_text import csv_text
from runner.tools.audit.finding import MeasuredFinding

CSV_COLUMNS = (
    *("finding", "title", "where", "source", "figure", "expected", "low", "high"),
    *("notes", "measured", "standard_error", "standing", "method", "note"),
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


def audit_summary(findings: Sequence[MeasuredFinding]) -> str:
    """How many figures have each standing, and how long the audit took."""
    standings = Counter(figure.standing for each in findings for figure in each.figures)
    reproduced = sum(each.verdict == "reproduced" for each in findings)
    counts = ", ".join(f"{count} {MEANING[name]}" for name in MEANING if (count := standings[name]))
    seconds = sum(each.seconds for each in findings)
    return (
        f"{reproduced} of {len(findings)} findings reproduced in full. Of {standings.total()} figures: "
        f"{counts}. {seconds:.0f} s."
    )


def show_audit(findings: Sequence[MeasuredFinding], console: Console) -> None:
    """Prints the table: a row per figure, the finding's title above its rows, its method below."""
    if not console.is_terminal:
        console = Console(file=console.file, width=WIDEST, highlight=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in ("finding", "expected", "measured", ""):
        right = title in ("expected", "measured")
        table.add_column(title, justify="right" if right else "left", overflow="fold")
    for number, each in enumerate(findings, start=1):
        finding = each.finding
        verdict = Text(each.verdict, style=COLOURS.get(each.verdict, "yellow"))
        table.add_row(Text(f"{number}. {finding.title}", style="bold"), "", "", verdict)
        table.add_row(Text(f"   {finding.where} ({finding.source})", style="dim"))
        for figure in each.figures:
            standing = Text(figure.standing, style=COLOURS.get(figure.standing, "yellow"))
            table.add_row(Text(f"     {figure.name}"), figure.expectation, figure.text, standing)
        if finding.note:
            table.add_row(Text(f"   {finding.note}", style="dim"))
        table.add_row(Text(f"   method: {finding.method}", style="dim"), end_section=True)
    console.print(table)
    console.print(audit_summary(findings), highlight=False)


def audit_csv(findings: Sequence[MeasuredFinding]) -> str:
    """One row per figure, full precision."""
    rows: list[tuple[object, ...]] = [CSV_COLUMNS]
    for each in findings:
        finding = each.finding
        head = (finding.key, finding.title, finding.where, finding.source)
        for figure in each.figures:
            expected = (figure.expected.text, figure.expected.low, figure.expected.high)
            measured = (figure.stated, figure.measured, figure.error, figure.standing)
            rows.append((*head, figure.name, *expected, *measured, finding.method, finding.note))
    return csv_text(rows)


def audit_markdown(findings: Sequence[MeasuredFinding]) -> str:
    """The same for a reader: one table, a row per figure."""
    lines = [
        "# Audit of papers and released code",
        "",
        audit_summary(findings),
        "",
        "| finding | where | figure | expected | measured | standing | method |",
        "|---|---|---|---:|---:|---|---|",
    ]
    for number, each in enumerate(findings, start=1):
        title, where, method = f"{number}. {each.finding.title}", each.finding.where, each.finding.method
        for figure in each.figures:
            cells = (title, where, figure.name, figure.expected.text, figure.text, figure.standing, method)
            title = where = method = ""
            lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    notes = [f"- {o.finding.title}: {o.finding.note}" for o in findings if o.finding.note]
    return "\n".join(
        [*lines, "", "What the sources do not state, and what was chosen instead:", "", *notes, ""]
    )
