"""A table that was written as Markdown, read back into its page: what there is where the runs are gone."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace

from runner.report.numerals import Numeral
from runner.report.page.layout import Cell, ColumnGroup, Label, Line, MetricBlock, Page
from runner.report.page.legend import BEATS_BEST, INEXACT, NOT_SIGNIFICANT, REDUCED, WITHIN_FLOOR
from runner.report.page.markdown import REST, SUPERSCRIPT, unit_text
from runner.report.table_shape import BETTER, Direction

RAISED = {chr(raised): chr(plain) for plain, raised in SUPERSCRIPT.items()}
UNRAISED = str.maketrans(RAISED)
MARKS = INEXACT + NOT_SIGNIFICANT + BEATS_BEST + WITHIN_FLOOR + REDUCED
RULE = "———"
DIRECTIONS = {said: direction for direction, said in BETTER.items() if said}
LETTERS = "".join(raised for raised, plain in RAISED.items() if plain.isalpha())


def read_page(text: str, versions: Collection[str]) -> Page:
    """The page that `runner.report.page.markdown.markdown` wrote as `text`.

    Args:
        versions: labels of the published versions, whose columns are not ours.

    Raises:
        ValueError: if it is no such page.
    """
    title, *parts = text.strip().split("\n\n")
    blocks = [place for place, part in enumerate(parts) if part.startswith("|")]
    if not title.startswith("# ") or not blocks:
        raise ValueError("this is no table of ours")
    after = parts[blocks[-1] + 1 :]
    findings = _bullets(after.pop(0)) if after and after[0].startswith("- ") else []
    legend = after.pop(0)
    footnotes = _bullets(after.pop(0)) if after and after[0].startswith("- ") else []
    coverage, _, rest = after[0].partition(REST)
    return Page(
        title=title.removeprefix("# "),
        caption=" ".join(parts[: blocks[0] - 1]),
        blocks=tuple(_block(parts[place - 1], parts[place], versions) for place in blocks),
        findings=tuple(findings),
        legend=(legend,),
        footnotes=tuple(_footnote(each) for each in footnotes),
        coverage=coverage,
        rest=rest.strip("`") or None,
    )


def _bullets(part: str) -> list[str]:
    return [line.removeprefix("- ") for line in part.split("\n")]


def _footnote(text: str) -> tuple[str, str]:
    mark, _, said = text.partition(" ")
    plain = _plain(mark)
    return (plain, said) if plain is not None else ("", text)


def _plain(raised: str) -> str | None:
    """The letters that are raised in `raised`; None where others are among them."""
    return "".join(RAISED[each] for each in raised) if raised and set(raised) <= set(LETTERS) else None


def _block(heading: str, table: str, versions: Collection[str]) -> MetricBlock:
    named = heading.strip("*")
    direction = Direction.none
    for said, found in DIRECTIONS.items():
        if named.endswith(f", {said}"):
            named, direction = named.removesuffix(f", {said}"), found
    titles, _, *rows = [_cells(line) for line in table.split("\n")]
    groups: list[ColumnGroup] = []
    published = [False]
    for place, text in enumerate(titles[1:]):
        label = _measured(text)
        ours = label.text not in versions
        label = _label(text) if ours else label
        published.append(not ours)
        if ours or not place:
            groups.append(ColumnGroup(label, (Label(""),), rule=False))
        else:
            heads = (*groups[-1].heads, label)
            groups[-1] = ColumnGroup(groups[-1].label, (Label("ours"), *heads[1:]), rule=False)
    lines, rule = [], False
    for label_text, *cells in rows:
        if label_text == RULE:
            rule = True
            continue
        found_cells = [_cell(text, shown) for text, shown in zip(cells, published[1:], strict=True)]
        lines.append(Line(_label(label_text), tuple(found_cells), rule))
        rule = False
    return MetricBlock(_measured(named), direction, tuple(groups), tuple(lines))


def _cells(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\| ", line.strip().removeprefix("| ").removesuffix("|"))
    return [cell.strip().replace(r"\|", "|") for cell in cells]


def _label(text: str) -> Label:
    """A row or a column of ours with its footnotes."""
    found = re.fullmatch(rf"(.*?)([{re.escape(MARKS + LETTERS)}]*)", text, re.DOTALL)
    assert found is not None
    raised = found[2]
    marks = tuple(RAISED.get(each, each) for each in raised)
    return Label(found[1], marks)


def _measured(text: str) -> Label:
    """A metric or a published column with its footnotes, and its unit where it names one."""
    head, _, written = text.rpartition(", unit ")
    unit = _unit(written)
    return _label(text) if unit is None else replace(_label(head), unit=unit)


def _unit(written: str) -> float | None:
    """The unit that `unit_text` wrote; None where it would have written another text."""
    plain = written.translate(UNRAISED)
    raised = plain != written and written.startswith("10")
    with suppress(ValueError, OverflowError):
        unit = 10.0 ** int(plain.removeprefix("10")) if raised else float(written)
        return unit if unit > 0.0 and unit_text(unit) == written else None
    return None


def _cell(text: str, published: bool) -> Cell | None:
    bold = text.startswith("**")
    text = text.strip("*")
    if text in ("-", ""):
        return None
    seeds = re.search(r" \(n=(\d+(?: of \d+)?)\)$", text)
    text = text[: seeds.start()] if seeds else text
    number = text.rstrip(MARKS)
    mean, _, margin = number.partition(" ± ")
    return Cell(
        Numeral(mean, margin or None),
        bold=bold,
        marks=tuple(text[len(number) :]),
        seeds=seeds[1] if seeds else None,
        published=published,
    )
