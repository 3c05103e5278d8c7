"""The ledger: a line for every published number, and the order of the rows of every published column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from runner.report.published import Published
from runner.report.table_shape import TableShape
from runner.verdicts.cells import (
    Block,
    Counterpart,
    counterparts,
    published_blocks,
    published_shapes,
    spread_of,
)
from runner.verdicts.changed_protocol import differences
from runner.verdicts.floors import at_floor, invalid_floor
from runner.verdicts.order import Beside, Outcome, Pair, compare, of_column
from runner.verdicts.protocols import Protocols, fitting, read_protocols
from runner.verdicts.records import Measured, Record, read_records
from runner.verdicts.rule import Evidence, Verdict, verdict


@dataclass(frozen=True)
class Source:
    """A column of a recorded table, or a number in it, beside a published one, with what differs there.

    Attributes:
        budget: "as published", or why it is as good as that; empty where it is smaller.
    """

    record: Record
    place: Counterpart
    differs: Mapping[str, str]
    budget: str

    @property
    def name(self) -> str:
        """Metric, experiment and scale, the overrides that change its protocol, and its reading."""
        changed = f" with {', '.join(self.record.changed)}" if self.record.changed else ""
        read = f", {self.place.reading}" if self.place.reading else ""
        return f"{self.place.metric.metric} of {self.record.experiment} at {self.record.scale}{changed}{read}"

    def ours(self, row: str) -> Measured | None:
        """Our number for a row that the paper calls so."""
        return self.record.numbers.get(
            (self.place.rows.get(row, ""), self.place.column, self.place.metric.metric)
        )


@dataclass(frozen=True)
class Line:
    """A published number with its verdict.

    Attributes:
        ours: our number; None where there is none.
        source: where it stands.
        matters: largest less smallest published number of its column, in the metric's own unit.
        settings: numbers in docs/papers/settings.md.
        others: verdicts of other statistics, columns and readings of ours beside the same number.
        shown: where the number differs, what a run has shown of the reason; empty where none has.
        released: what follows the released code where the paper says otherwise; empty where nothing does.
    """

    block: Block
    row: str
    published: Published
    ours: Measured | None
    source: Source | None
    matters: float
    settings: tuple[str, ...]
    verdict: Verdict
    reason: str
    others: tuple[str, ...] = ()
    shown: str = ""
    released: str = ""


@dataclass(frozen=True)
class Column:
    """The order of the rows of a published column, by the records `sources`.

    Attributes:
        readings: the same in other readings of the published settings.
    """

    block: Block
    sources: tuple[Source, ...]
    pairs: tuple[Pair, ...]
    outcome: Outcome
    readings: tuple[Column, ...] = ()

    @property
    def reading(self) -> str:
        """How its rows read the published settings; empty for the first way."""
        return self.sources[0].place.reading if self.sources else ""


@dataclass(frozen=True)
class Ledger:
    """All lines and columns, sentences on records that were left out, and on what else a reader must know."""

    lines: tuple[Line, ...]
    columns: tuple[Column, ...]
    refused: tuple[str, ...]
    missing: tuple[str, ...]


def ledger(root: Path) -> Ledger:
    """The ledger of the records below `root`.

    Raises:
        UserError: if there is no such folder, or conf/published/protocols.yaml cannot be read.
    """
    shapes, protocols = published_shapes(), read_protocols()
    records, places = read_records(root, shapes), counterparts(shapes)
    lines, columns = [], []
    for block, numbers in sorted(published_blocks().items(), key=lambda one: one[0].table_order):
        beside = fitting(places.get(block, []), protocols)
        pairs = [(record, place) for place in beside for record in records.of(place.experiment)]

        def sources(row: str | None, pairs: Sequence[tuple[Record, Counterpart]] = pairs) -> list[Source]:
            made = [_source(*pair, row, protocols, shapes[pair[1].experiment]) for pair in pairs]
            return sorted(made, key=lambda source: (bool(source.place.reading), len(source.differs)))

        lines += [_line(block, row, numbers, sources(row), protocols) for row in numbers]
        columns.append(_column(block, numbers, sources(None)))
    return Ledger(tuple(lines), tuple(columns), records.refused, records.missing)


def _source(
    record: Record, place: Counterpart, row: str | None, protocols: Protocols, shape: TableShape
) -> Source:
    """For a row that the paper calls so, or for the column as a whole."""
    asked = place, None if row is None else (place.first or place.rows).get(row), record.scale, shape
    differs = {**protocols.differs(*asked), **differences(record.changed)}
    budget = "" if "budget" in differs else protocols.budget(*asked)
    return Source(record, place, differs, budget)


def _line(
    block: Block, row: str, numbers: Mapping[str, Published], sources: Sequence[Source], protocols: Protocols
) -> Line:
    """The line of one number: by the first source that has it, with the verdicts of other statistics."""
    number, matters = numbers[row], spread_of(numbers.values())
    judged: list[tuple[Source, Measured, Evidence]] = []
    for source in sources:
        ours = source.ours(row)
        if ours is not None and not any(_same_statistic(source.place, other.place) for other, _, _ in judged):
            judged.append((source, ours, _evidence(number, matters, source, ours)))
    if not judged:
        entry = protocols.unmeasured_of(block)
        why = entry.why if entry is not None else "no record holds it"
        settings = tuple(entry.settings) if entry is not None else ()
        return Line(block, row, number, None, None, matters, settings, Verdict.not_measured, why)
    source, ours, evidence = judged[0]
    found, reason = verdict(evidence)
    others = tuple(_said(other, source, its) for other, _, its in judged[1:])
    here = source.place, source.place.rows[row]
    shown = protocols.shown(*here) if found is Verdict.differs else ""
    settings, released = tuple(protocols.settings(*here)), protocols.released(*here)
    return Line(block, row, number, ours, source, matters, settings, found, reason, others, shown, released)


def _same_statistic(one: Counterpart, other: Counterpart) -> bool:
    """Whether they are of one metric, and not of two columns or readings of one table."""
    apart = (one.column, one.reading) != (other.column, other.reading)
    return one.metric.metric == other.metric.metric and not (one.experiment == other.experiment and apart)


def _said(other: Source, first: Source, evidence: Evidence) -> str:
    """What another statistic says; of one that cannot be compared also what its numbers alone would say."""
    column = f", column {other.place.column}" if other.place.column != first.place.column else ""
    found, why = verdict(evidence)
    alone = f"; by its numbers alone: {verdict(replace(evidence, differs={}))[0].value}"
    said = f"{other.name}{column}: {found.value} ({why})"
    return said + (alone if found is Verdict.not_comparable else "")


def _evidence(number: Published, matters: float, source: Source, ours: Measured) -> Evidence:
    return Evidence(
        published=number.mean * number.scale,
        rounding=number.rounding,
        matters=matters,
        ours=ours.interval,
        differs=source.differs,
        floor=invalid_floor(source.record, source.place),
        at_floor=at_floor(source.record, source.place, ours, number),
        lost=ours.lost,
        absent=ours.absent,
    )


def _column(block: Block, numbers: Mapping[str, Published], sources: Sequence[Source]) -> Column:
    """The order of a column, in the first reading of the published settings and in the others."""
    readings: dict[str, list[Source]] = {"": []}
    for source in sources:
        readings.setdefault(source.place.reading, []).append(source)
    first, *others = [
        _ordered(block, {row: one for row, one in numbers.items() if not reading or _has(own, row)}, own)
        for reading, own in readings.items()
    ]
    return replace(first, readings=tuple(one for one in others if one.sources))


def _has(sources: Sequence[Source], row: str) -> bool:
    """Whether a row that the paper calls so is in the reading of these sources."""
    return any(row in source.place.rows for source in sources)


def _ordered(block: Block, numbers: Mapping[str, Published], sources: Sequence[Source]) -> Column:
    """By the first source that has two of the column's rows, and its experiment's other scales.

    Another scale only tells pairs that the first has not.
    """
    found = [
        (source, {row: one for row in numbers if (one := source.ours(row)) is not None}) for source in sources
    ]
    found = [(source, ours) for source, ours in found if len(ours) > 1]
    same = [(source, ours) for source, ours in found if source.place == found[0][0].place]
    beside = [
        Beside(
            ours,
            invalid_floor(source.record, source.place),
            [row for row, one in ours.items() if at_floor(source.record, source.place, one, numbers[row])],
            source.name,
        )
        for source, ours in same
    ]
    pairs = compare({row: number.mean for row, number in numbers.items()}, beside)
    used = {pair.source for pair in pairs}
    told_by = tuple(source for source, _ in same if source.name in used)
    return Column(block, told_by, tuple(pairs), of_column(pairs))
