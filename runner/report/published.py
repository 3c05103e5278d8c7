"""Published results, in conf/published as they were printed."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

import conf
from runner.execution.errors import UserError
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
        UserError: if the file is not in conf/published or lacks a version that the table names.
    """
    if shape.published is None:
        return PublishedNumbers({})
    path = Path(conf.__path__[0]) / "published" / shape.published.file
    if not path.is_file():
        held = ", ".join(sorted(file.name for file in path.parent.glob("*.csv")))
        raise UserError(f"table.published.file is '{path.name}', conf/published holds: {held}.")
    frame = _read(path)
    numbers = {}
    for label, version in shape.published.versions.items():
        rows = frame[(frame["paper"] == version.paper) & (frame["table"] == version.table)]
        if rows.empty:
            raise UserError(f"{path.name} holds nothing of {version.paper}, {version.table}.")
        for metric, setting, sampler, mean, sd, scale in zip(
            rows["metric"], rows["setting"], rows["sampler"], rows["mean"], rows["std"], rows["unit_scale"],
            strict=True,
        ):  # fmt: skip
            spread = None if pd.isna(sd) else float(sd)
            decimals = len(mean.partition(".")[2])
            numbers[label, metric, setting, sampler] = Published(float(mean), spread, float(scale), decimals)
    return PublishedNumbers(numbers)


@functools.cache
def _read(path: Path) -> pd.DataFrame:
    """A file of published numbers; panels ask for it number by number."""
    return pd.read_csv(path, comment="#", dtype={"mean": str})
