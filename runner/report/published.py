"""Published results, in conf/published as they were printed."""

from __future__ import annotations

import csv
import functools
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import conf
from runner.execution.errors import UserError, listed, nearest, not_allowed, one_sentence
from runner.report.numerals import Numeral
from runner.report.table_shape import ColumnShape, MetricShape, RowShape, TableShape

NAMES = ("paper", "table", "setting", "sampler", "metric")
COLUMNS = (*NAMES, "mean", "std", "unit_scale")
"""Columns that a file of published numbers has, besides others; `std` may be empty."""

DECIMAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Published:
    """A published number: the digits of its mean, and of its spread as margin, in units of `scale`."""

    printed: Numeral
    scale: float = 1.0

    @property
    def mean(self) -> float:
        """In units of `scale`."""
        return float(self.printed.mean)

    @property
    def sd(self) -> float | None:
        """In units of `scale`; None where none is printed."""
        return None if self.printed.margin is None else float(self.printed.margin)

    @property
    def rounding(self) -> float:
        """Half a unit of the last printed digit of the mean, in the metric's own unit."""
        return 0.5 * float(f"1e{Decimal(self.printed.mean).as_tuple().exponent}") * self.scale


class PublishedNumbers:
    """The published numbers that belong to a table, found by version, metric, column and row."""

    def __init__(self, numbers: Mapping[tuple[str, str, str, str], Published]) -> None:
        self._numbers = dict(numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, version: str, metric: MetricShape, column: ColumnShape, row: RowShape) -> Published | None:
        """The number printed beside ours, or None where the paper has none."""
        key = (version, metric.published.get(version), column.published, row.published.get(version))
        return self._numbers.get(key)  # type: ignore[arg-type]


def published_numbers(shape: TableShape) -> PublishedNumbers:
    """The published numbers of the versions that the table's `published` block names.

    Raises:
        UserError: if the file is not in conf/published or has a mistake, or lacks a version that the table
            names or, of it, a sampler, a metric or a setting.
    """
    if shape.published is None:
        return PublishedNumbers({})
    path = Path(conf.__path__[0]) / "published" / shape.published.file
    if not path.is_file():
        held = [file.name for file in path.parent.glob("*.csv")]
        hint = nearest(path.name, held) or ","
        raise UserError(f"table.published.file is '{path.name}'{hint} conf/published holds: {listed(held)}.")
    numbers: dict[tuple[str, str, str, str], Published] = {}
    for label, version in shape.published.versions.items():
        tables = read_published(path)
        found = tables.get((version.paper, version.table))
        if found is None:
            named, held = f"{version.paper}, {version.table}", [", ".join(each) for each in tables]
            raise UserError(
                f"table.published.versions.{label} is '{named}'{nearest(named, held) or ','} "
                f"{path.name} holds: {'; '.join(held)}."
            )
        numbers |= {(label, *place): number for place, number in found.items()}
    for place, name, names in _names(shape, numbers):
        if name not in names:
            raise UserError(
                f"{place} is '{name}'{nearest(name, names) or ','} {path.name} holds there: {listed(names)}."
            )
    return PublishedNumbers(numbers)


def _names(
    shape: TableShape, numbers: Collection[tuple[str, str, str, str]]
) -> Iterator[tuple[str, str, set[str]]]:
    """Each published name in the table: where it stands, the name, and those that the file has there.

    A column has one name for all versions, not each of which needs to have that setting.
    """
    metrics, settings, samplers = (
        {version: {key[part] for key in numbers if key[0] == version} for version in shape.versions}
        for part in (1, 2, 3)
    )
    of_metrics, of_rows = ([each.published for each in part] for part in (shape.metrics, shape.rows))
    for kind, entries, held in (("metrics", of_metrics, metrics), ("rows", of_rows, samplers)):
        for place, published in enumerate(entries):
            for version, name in published.items():
                yield f"table.{kind}[{place}].published.{version}", name, held[version]
    for place, column in enumerate(shape.columns):
        if column.published is not None:
            yield f"table.columns[{place}].published", column.published, set().union(*settings.values())


@functools.cache
def read_published(path: Path) -> dict[tuple[str, str], dict[tuple[str, str, str], Published]]:
    """A file's numbers by paper and table, and there by metric, setting and sampler; panels ask often.

    Raises:
        UserError: for a column that is missing, a line that is no number, and a number that stands twice.
    """
    tables: dict[tuple[str, str], dict[tuple[str, str, str], Published]] = {}
    lines: dict[tuple[str, ...], int] = {}
    for line, row in _rows(path):
        number, named = _published(f"{path.name}, line {line}", row), tuple(row[name] for name in NAMES)
        if named in lines:
            where = f"line {line}: {', '.join(named)}"
            raise UserError(f"{path.name}, {where} must stand once, but it is also on line {lines[named]}.")
        lines[named] = line
        table = tables.setdefault((row["paper"], row["table"]), {})
        table[row["metric"], row["setting"], row["sampler"]] = number
    return tables


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines of a file by number, each by column; those that begin with # are comments."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader("\n" if line.startswith("#") else line for line in file)
            found = [(reader.line_num, fields) for fields in reader if fields]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path.name} cannot be read: {one_sentence(error)}.") from error
    head = found[0][1] if found else []
    for name in COLUMNS:
        if name not in head:
            hint = nearest(name, set(head) - set(COLUMNS)) or ";"
            raise UserError(f"{path.name} has no column '{name}'{hint} it must have {', '.join(COLUMNS)}.")
    for line, fields in found[1:]:
        if len(fields) != len(head):
            raise UserError(
                f"{path.name}, line {line} must have {len(head)} fields as the first line has, "
                f"it has {len(fields)}."
            )
        yield line, dict(zip(head, fields, strict=True))


def _published(where: str, row: Mapping[str, str]) -> Published:
    for name in NAMES:
        if not row[name].strip():
            raise UserError(f"{where}: {name} must not be empty.")
    _check(f"{where}: mean must be a number such as -0.25 or 1e-3", row["mean"], -math.inf)
    if row["std"]:
        _check(f"{where}: std must be empty or a number from 0 on such as 0.25 or 1e-3", row["std"], 0.0)
    _check(f"{where}: unit_scale must be a number above 0 such as 1 or 1e-3", row["unit_scale"], 5e-324)
    return Published(Numeral(row["mean"], row["std"] or None), float(row["unit_scale"]))


def _check(what: str, text: str, least: float) -> None:
    if DECIMAL.fullmatch(text) is None or not math.isfinite(float(text)) or float(text) < least:
        raise not_allowed(what, text, ())
