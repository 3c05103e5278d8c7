"""The values by seed of a recorded table: a line for each of its numbers, a column for each seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from runner.report.table_shape import Direction, TableShape

if TYPE_CHECKING:
    from runner.report.runs.stored_results import Results

SEEDS = "seeds.csv"
"""Their file, beside table.csv."""

PLACE = ["row", "cell", "metric"]


def seed_values(shape: TableShape, results: Results) -> str:
    """The file's text: of every metric, for the rows that it is shown for.

    All digits, so that the table rendered anew from them is the same.
    """
    lines: list[dict[str, object]] = []
    for metric, row, column in product(shape.metrics, shape.rows, shape.columns):
        if metric.rows and row.row not in metric.rows:
            continue
        where = row.row, column.label, metric.metric
        # What exact draws drew, of which the mean in the table is not; a row of exact values has no other.
        if values := results.values(*where) or results.known(*where):
            place = dict(zip(PLACE, where, strict=True))
            lines.append(place | {str(seed): values[seed] for seed in sorted(values)})
    seeds = sorted({int(name) for line in lines for name in line if name not in PLACE})
    return pd.DataFrame(lines, columns=[*PLACE, *map(str, seeds)]).to_csv(index=False)


def tested(shape: TableShape) -> set[str]:
    """The metrics that the page needs by seed: they are compared, or a growth is fitted to them."""
    named = {comparison.metric for comparison in shape.comparisons}
    named |= {growth.metric for growth in shape.growths if growth.along is None}
    return named | {metric.metric for metric in shape.metrics if metric.direction != Direction.none}


def read_seed_values(path: Path) -> dict[tuple[str, str, str], Mapping[int, float]]:
    """By row, column and metric the value of each seed; empty where there is no such file.

    Raises:
        ValueError: if it is not such a file.
    """
    if not path.exists():
        return {}
    frame = read_labelled(path).set_index(PLACE)
    frame.columns = frame.columns.astype(int)
    return {place: row.dropna().to_dict() for place, row in frame.iterrows()}  # type: ignore[misc]


def read_labelled(path: Path, labels: Sequence[str] = PLACE) -> pd.DataFrame:
    """A recorded CSV, no bit of a number changed; labels are text, also numbers and a row called None or NA.

    An empty place alone has no value.
    """
    frame, text = (
        pd.read_csv(path, dtype=dtype, keep_default_na=False, na_values=[""])
        for dtype in (dict.fromkeys(labels, str), str)
    )
    # pandas before 3 reads a float that may differ in its last bit.
    floats = {str(name): text[name].astype(float) for name in frame.select_dtypes("float")}
    return frame.assign(**floats)
