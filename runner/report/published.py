"""Published results, in conf/published as they were printed."""

from __future__ import annotations

import csv
import functools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import conf
from runner.execution.errors import UserError, listed, nearest
from runner.report.table_shape import ColumnShape, MetricShape, RowShape, TableShape


@dataclass(frozen=True)
class Published:
    """A published number: `mean` and `sd` are as printed, in units of `scale`, with so many `decimals`."""

    mean: float
    sd: float | None
    scale: float
    decimals: int = 3


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
        UserError: if the file is not in conf/published, or lacks a version that the table names or, of it, a
            sampler, a metric or a setting.
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
        found = _read(path).get((version.paper, version.table))
        if found is None:
            named, held = f"{version.paper}, {version.table}", [", ".join(each) for each in _read(path)]
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
def _read(path: Path) -> dict[tuple[str, str], dict[tuple[str, str, str], Published]]:
    """A file's numbers by paper and table, and there by metric, setting and sampler; panels ask often."""
    tables: dict[tuple[str, str], dict[tuple[str, str, str], Published]] = {}
    lines = path.read_text(encoding="utf-8").splitlines()
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        mean, sd = row["mean"], float(row["std"]) if row["std"] else None
        number = Published(float(mean), sd, float(row["unit_scale"]), len(mean.partition(".")[2]))
        table = tables.setdefault((row["paper"], row["table"]), {})
        table[row["metric"], row["setting"], row["sampler"]] = number
    return tables
