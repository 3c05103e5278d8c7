"""A table's page as LaTeX: a float a metric, then its notes; it needs the packages booktabs and graphicx."""

from __future__ import annotations

import re

from runner.report.numerals import power_of_ten
from runner.report.page.latex_text import escape
from runner.report.page.layout import NOTHING, Cell, Label, MetricBlock, Page
from runner.report.page.legend import BEATS_BEST, INEXACT, NOT_SIGNIFICANT, REDUCED, WITHIN_FLOOR
from runner.report.table_shape import BETTER

MARKS = {
    INEXACT: r"\dagger",
    BEATS_BEST: r"\ddagger",
    NOT_SIGNIFICANT: r"\sim",
    WITHIN_FLOOR: r"\circ",
    REDUCED: r"\S",
}


def _raised(marks: tuple[str, ...]) -> str:
    inside = "".join(MARKS.get(mark, rf"\mathrm{{{mark}}}") for mark in marks)
    return f"$^{{{inside}}}$" if inside else ""


def _unit(unit: float) -> str:
    exponent = power_of_ten(unit)
    return f"$10^{{{exponent}}}$" if exponent else f"{unit:g}"


def _label(label: Label) -> str:
    unit = "" if label.unit is None else f", unit {_unit(label.unit)}"
    return escape(label.text) + _raised(label.marks) + unit


def _digits(text: str) -> str:
    """Digits of a numeral inside a formula, where a comma would be followed by a space."""
    text = text.replace(",", "{,}")
    return re.sub(r"e([+-])0*(\d+)$", lambda m: rf"\times 10^{{{m[1].strip('+')}{m[2]}}}", text)


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "--"
    inside = _digits(cell.numeral.mean)
    if inside == NOTHING:
        inside = r"\mbox{--}"
    if cell.numeral.margin is not None:
        inside += rf" \pm {_digits(cell.numeral.margin)}"
    number = rf"$\mathbf{{{inside}}}$" if cell.bold else f"${inside}$"
    seeds = "" if cell.seeds is None else rf" {{\tiny ($n={cell.seeds.replace(' of ', '$ of $')}$)}}"
    return number + _raised(cell.marks) + seeds


def latex(page: Page) -> str:
    """The whole page: a `table*` float for each metric, and below them the sentences as paragraphs."""
    notes = [f"{_raised((mark,)) if mark else ''} {escape(text)}".strip() for mark, text in page.footnotes]
    findings = [escape(finding) for finding in page.findings]
    below = [*findings, escape(" ".join(page.legend)), *notes, escape(page.coverage)]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs,graphicx}",
            *(_float(page, place) for place in range(len(page.blocks))),
            r"\begingroup\par\medskip\raggedright\footnotesize\setlength{\parindent}{0pt}",
            "\\par\n".join(below),
            r"\par\endgroup",
            "",
        ]
    )


def _float(page: Page, place: int) -> str:
    """The block at `place` with its caption; the first one says what the table is about."""
    block = page.blocks[place]
    title = page.title if len(page.blocks) == 1 else f"{page.title}: {block.label.text}"
    caption = f"{title}. {page.caption}" if place == 0 else f"{title}."
    lines = [r"\begin{table*}", r"\centering\small", rf"\caption{{{escape(caption)}}}"]
    return "\n".join([*lines, _block(block), r"\end{table*}"])


def _block(block: MetricBlock) -> str:
    """The numbers of one metric, made smaller where they are wider than the text."""
    columns = "l" + "".join(("|" if group.rule else "") + "r" * len(group.heads) for group in block.groups)
    width = 1 + sum(len(group.heads) for group in block.groups)
    unit = None if block.label.unit == 1.0 else block.label.unit
    title = _label(Label(block.label.text, block.label.marks, unit))
    title = ", ".join(part for part in (title, BETTER[block.direction]) if part)
    lines = [
        r"\par\medskip\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        rf"\multicolumn{{{width}}}{{l}}{{\textbf{{{title}}}}} \\",
        _row("", *(_group(group.heads, group.label) for group in block.groups)),
        " ".join(_rules(block)),
        _row("", *(_label(head) for group in block.groups for head in group.heads)),
        r"\midrule",
    ]
    for line in block.lines:
        lines += [r"\midrule"] if line.rule else []
        lines.append(_row(_label(line.label), *map(_cell, line.cells)))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}"])


def _row(first: str, *others: str) -> str:
    """A line of a tabular; ``[`` or ``*`` at its start would be an argument of the command before it."""
    guard = "{}" if first.startswith(("[", "*")) else ""
    return " & ".join([guard + first, *others]) + r" \\"


def _group(heads: tuple[Label, ...], label: Label) -> str:
    return rf"\multicolumn{{{len(heads)}}}{{c}}{{{_label(label)}}}"


def _rules(block: MetricBlock) -> list[str]:
    """A short rule under each group's name."""
    rules, first = [], 2
    for group in block.groups:
        rules.append(rf"\cmidrule(lr){{{first}-{first + len(group.heads) - 1}}}")
        first += len(group.heads)
    return rules
