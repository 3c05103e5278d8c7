"""The ledger as one page of Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

import pandas as pd

from metrics.inference.prediction import prediction_interval
from runner.report.numerals import Numeral, numeral, significant
from runner.verdicts.ledger import Column, Ledger, Line
from runner.verdicts.order import Outcome, Pair

HEAD = (
    *("row", "column", "metric", "published", "ours", "prediction interval"),
    *("verdict", "why", "settings", "command"),
)
TOLD = (Outcome.reversed, Outcome.cannot_be_told)

OPENING = """\
# A verdict on every published number

Made by `make verdicts` from `outputs/record/` and `conf/published/` alone; no verdict is typed.
"""

RULE = """\
## The rule

A published number gets the first of these that fits:

1. **not measured**: no recorded table has a number beside it, nor runs that ended without one.
2. **not comparable**: target, data, budget, statistic or network is another one, as
   `conf/published/protocols.yaml` or the overrides that the table was recorded with say.
3. **not rankable**: the floor is invalid, or both numbers lie at a valid one. The floor is the row of perfect
   draws. It is invalid if its table declares it void, if a sampler is significantly better than it, or if it
   does not differ significantly from a second row of independent draws, such as uniform ones. The published
   number lies at the floor if it is inside the 95 % prediction interval for one more value of perfect draws,
   or better. Our mean of n seeds lies there if it is inside that interval for the mean of n more such values,
   or better, and its own table does not find it significantly worse than the floor (the mark °).
4. **differs**: it lies outside our 95 % prediction interval for one new model and seed, which is
   mean ± t s √(1 + 1/n). Where a run has shown something of the reason, *why* says it with the record;
   where *why* does not, none has.
5. **undecided**: some of our runs, or all, have no value or failed, so that the others are no fair choice;
   or it lies inside, but the interval is wider than the published column from its best row to its worst
   (the difference that matters, column `matters` of `verdicts.csv`), or there is one seed and no interval.
6. **agrees**: it lies inside an interval that is narrow enough to have told the best row from the worst. It
   may be too wide to tell two neighbouring rows apart; the order of the rows is tested below.

A verdict from fewer runs than the sweep of its record has says in *why* of how many it is.

The record at `paper` is taken where it has the number, else `quick`; where parts of a record both have it,
the one of more runs. Of several statistics of ours beside a published number the one that differs in the
fewest things is taken, then the first in `protocols.yaml`; the column *why* has the verdicts of the others,
of other columns and of other readings of the published settings, and says what follows the released code
where the paper says otherwise.
*At the budget* counts the numbers that we measured at the published budget or at one of which
`protocols.yaml` says why it is as good. Settings are the numbers of deviations and open points on the page
"The papers' settings" (`docs/papers/settings.md`).

**Order of rows.** Two rows are compared within one record and the parts recorded beside it. Of several
records that have both, it is the one that differs least from the published protocol, `paper` before `quick`.
The test is a paired t-test where one folder keeps the values of common seeds of both (`seeds.csv`), else
Welch's test of mean, standard deviation and number of seeds, which finds less; the column *test* says which.
The runs of a record and of a part may be of different machines, and need not share random numbers; the column
*by* names both folders then, and `order.csv` those of each pair. Both tests are at the 5 % level, with Holm's
correction over the pairs of a column. "A < B" is the order of two published numbers. A column *holds* if
every pair of it does, and is *reversed* if one pair is significantly reversed. Beside each pair that cannot
be told stand our difference, the second row minus the first, in the metric's own unit, and the smallest one
that the test finds at 80 % power at the level 0.05 / m, where m is the number of pairs that were tested.
Columns are compared whatever differs in the protocol; the table says what does. Where a published setting
can be read in two ways, the column *order* has the order in the second way behind that in the first.
"""


def page(ledger: Ledger, counts: pd.DataFrame) -> str:
    """The whole page; `counts` is `runner.verdicts.files.summary`."""
    parts = [OPENING, "## By table\n", _table(counts.columns, counts.itertuples(index=False))]
    parts += [*_reprinted(ledger.lines), *_read_otherwise(ledger.columns), RULE]
    said = [*ledger.refused, *ledger.missing]
    if said:
        parts += ["## Records\n", "\n".join(f"- {sentence}" for sentence in said) + "\n"]
    parts.append("## Order of the rows\n")
    for (paper, table), columns in groupby(ledger.columns, lambda one: (one.block.paper, one.block.table)):
        parts += [f"### {paper}, {table}: order\n", _order(list(columns))]
    parts.append("## Every number\n")
    for (paper, table), lines in groupby(ledger.lines, lambda one: (one.block.paper, one.block.table)):
        parts += [f"### {paper}, {table}\n", _numbers(list(lines))]
    return "\n".join(parts).rstrip() + "\n"


def _reprinted(lines: Iterable[Line]) -> list[str]:
    """Says how many numbers a later version of a paper prints again, beside the same number of ours."""
    places = Counter(
        (line.source.name, line.source.place.column, line.source.place.rows[line.row], line.published.mean)
        for line in lines
        if line.source is not None
    )
    again = sum(places.values()) - len(places)
    said = f"Of these numbers {again} are printed in two versions of a paper and count twice.\n"
    return [said] if again else []


def _read_otherwise(columns: Iterable[Column]) -> list[str]:
    """Says how many columns change their order in another reading of the published settings."""
    read = [(column.outcome, one) for column in columns for one in column.readings]
    said = []
    for how in dict.fromkeys(one.reading for _, one in read):
        pairs = Counter((first, one.outcome) for first, one in read if one.reading == how)
        turned = sum(number for (first, _), number in pairs.items() if first is Outcome.reversed)
        hold, more = pairs[Outcome.reversed, Outcome.holds], pairs[Outcome.cannot_be_told, Outcome.reversed]
        said.append(
            f"With {how}, the order of the other rows holds in {hold} of {turned} columns that are reversed "
            f"above. It is reversed in {more} columns that cannot be told above.\n"
        )
    return said


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    names = list(head)
    lines = [names, [":--"] * len(names), *rows]
    cells = [[str(cell).replace("|", r"\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def _order(columns: Sequence[Column]) -> str:
    """A line for each column: how many pairs hold, and those that are reversed or cannot be told."""
    rows = []
    for column in columns:
        block, sources = column.block, column.sources
        counts = Counter(pair.outcome for pair in column.pairs)
        line = [
            block.column,
            block.metric,
            "; ".join([column.outcome.value, *map(_reading, column.readings)]),
        ]
        line.append(f"{counts[Outcome.holds]} of {len(column.pairs)}")
        line.append("; ".join(_said(pair) for pair in column.pairs if pair.outcome in TOLD))
        line.append(", ".join(dict.fromkeys(pair.test for pair in column.pairs if pair.test)))
        differs = dict.fromkeys(kind for source in sources for kind in source.differs)
        told_by = " and ".join(source.name for source in sources) or "-"
        across = dict.fromkeys(one for pair in column.pairs if len(pair.folders) > 1 for one in pair.folders)
        told_by += f" ({' and '.join(across)})" if across else ""
        rows.append([*line, told_by, ", ".join(differs)])
    head = ["column", "metric", "order", "pairs that hold", "other pairs", "test", "by", "differs in"]
    return _table(head, rows)


def _reading(column: Column) -> str:
    """``holds with the steps as they stand (3 of 3 pairs hold)``."""
    holds = sum(pair.outcome is Outcome.holds for pair in column.pairs)
    return f"{column.outcome.value} with {column.reading} ({holds} of {len(column.pairs)} pairs hold)"


def _said(pair: Pair) -> str:
    """``A < B reversed (p = 0.01)``, or ``A < B cannot be told (0.2; 0.5 would be found)``."""
    text = f"{pair.rows[0]} < {pair.rows[1]} {pair.outcome.value}"
    if pair.outcome is Outcome.reversed:
        return f"{text} (p = {pair.p_value:.2g})"
    found = f"{_two_digits(pair.detectable)} would be found" if pair.detectable is not None else "no test"
    return f"{text} ({found})" if pair.ours is None else f"{text} ({_two_digits(pair.ours)}; {found})"


def _two_digits(value: float) -> str:
    return significant(value, 2, abs(value))


def _numbers(lines: Sequence[Line]) -> str:
    """The numbers of one table, and below it what of its protocol differs, kind by kind."""
    differs = [item for line in lines if line.source for item in line.source.differs.items()]
    notes = "".join(f"- {kind}: {what}\n" for kind, what in dict.fromkeys(differs))
    return _table(HEAD, map(_cells, lines)) + (f"\n{notes}" if notes else "")


def _cells(line: Line) -> list[str]:
    """One number: published, ours, verdict, reason, settings, command."""
    published, unit = line.published, line.published.scale
    ours, expected = "-", "-"
    span = line.ours.interval if line.ours is not None else None
    if span is not None:
        ours = f"{_written(numeral(span.mean, span.margin, unit))} (n = {span.n})"
        if (between := prediction_interval(span)) is not None:
            expected = f"{between[0] / unit:.4g} to {between[1] / unit:.4g}"
    return [
        line.row,
        line.block.column,
        line.block.metric + ("" if unit == 1.0 else f", unit {unit:g}"),
        _written(published.printed),
        ours,
        expected,
        f"**{line.verdict.value}**",
        "; ".join(filter(None, [line.reason, line.released, line.shown, *line.others])),
        ", ".join(line.settings),
        f"`{line.ours.command}`" if line.ours is not None else "-",
    ]


def _written(number: Numeral) -> str:
    return number.mean if number.margin is None else f"{number.mean} ± {number.margin}"
