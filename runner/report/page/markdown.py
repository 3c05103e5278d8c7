"""A table's page as Markdown."""

from __future__ import annotations

from runner.report.numerals import power_of_ten
from runner.report.page.layout import Cell, Label, MetricBlock, Page
from runner.report.table_shape import BETTER

SUPERSCRIPT = str.maketrans("abcdefghijklmnoprstuvwxyz0123456789-", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

REST = " For the rest: "
"""What stands before the command of the missing runs, at the end of the page."""


def unit_text(unit: float) -> str:
    """A unit such as 0.001 in plain text: 10⁻³."""
    exponent = power_of_ten(unit)
    return f"10{str(exponent).translate(SUPERSCRIPT)}" if exponent else f"{unit:g}"


def label_text(label: Label) -> str:
    """A heading or a row's name in plain text, marks raised."""
    unit = "" if label.unit is None else f", unit {unit_text(label.unit)}"
    return label.text + "".join(label.marks).translate(SUPERSCRIPT) + unit


def block_title(block: MetricBlock) -> str:
    """A metric's name, its unit where it is not one, and which way is better."""
    unit = None if block.label.unit == 1.0 else block.label.unit
    named = label_text(Label(block.label.text, block.label.marks, unit))
    return ", ".join(part for part in (named, BETTER[block.direction]) if part)


def cell_text(cell: Cell | None, *, spread: bool = True) -> str:
    """A number in plain text; a dash where there is none."""
    if cell is None:
        return "-"
    text = cell.numeral.mean
    if spread and cell.numeral.margin is not None:
        text += f" ± {cell.numeral.margin}"
    seeds = "" if cell.seeds is None else f" (n={cell.seeds})"
    return text + "".join(cell.marks) + seeds


def column_titles(block: MetricBlock) -> list[str]:
    """One heading a column: the group's name over its first column, the version over the published ones."""
    titles = []
    for group in block.groups:
        titles += [label_text(group.label), *(label_text(head) for head in group.heads[1:])]
    return titles


def markdown(page: Page) -> str:
    """The whole page."""
    parts = [f"# {page.title}", page.caption]
    parts += [f"**{block_title(block)}**\n\n{_block(block)}" for block in page.blocks]
    parts += ["\n".join(f"- {finding}" for finding in page.findings)] if page.findings else []
    parts.append(" ".join(page.legend))
    notes = [f"{mark.translate(SUPERSCRIPT)} {text}".strip() for mark, text in page.footnotes]
    if notes:
        parts.append("\n".join(f"- {note}" for note in notes))
    parts.append(page.coverage + (f"{REST}`{page.rest}`" if page.rest else ""))
    return "\n\n".join(parts) + "\n"


def _block(block: MetricBlock) -> str:
    titles = ["", *map(_escaped, column_titles(block))]
    rows = []
    for line in block.lines:
        if line.rule:
            rows.append(["———"] + [""] * (len(titles) - 1))
        cells = [
            f"**{cell_text(cell)}**" if cell is not None and cell.bold else cell_text(cell)
            for cell in line.cells
        ]
        rows.append([_escaped(label_text(line.label)), *cells])
    head = [titles, [":--"] + ["--:"] * (len(titles) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in head + rows)


def _escaped(text: str) -> str:
    """`text` without bars that would divide cells."""
    return text.replace("|", r"\|")
