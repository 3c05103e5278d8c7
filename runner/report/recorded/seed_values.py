"""The values by seed of a recorded table: a line for each of its numbers, a column for each seed."""

from __future__ import annotations

from collections.abc import Mapping
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
    """The file's text: of metrics with a direction or published numbers, and of those compared or drawn.

    Nine digits: more than a test can tell apart.
    """
    shown = {comparison.metric for comparison in shape.comparisons}
    shown |= {panel.metric for figure in shape.figures for panel in figure.panels if panel.metric}
    metrics = [
        metric
        for metric in shape.metrics
        if metric.published or metric.direction != Direction.none or metric.metric in shown
    ]
    lines: list[dict[str, object]] = []
    for metric, row, column in product(metrics, shape.rows, shape.columns):
        if values := results.values(row.row, column.label, metric.metric):
            place = dict(zip(PLACE, (row.row, column.label, metric.metric), strict=True))
            lines.append(place | {str(seed): values[seed] for seed in sorted(values)})
    seeds = sorted({int(name) for line in lines for name in line if name not in PLACE})
    return pd.DataFrame(lines, columns=[*PLACE, *map(str, seeds)]).to_csv(index=False, float_format="%.9g")


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


def read_labelled(path: Path) -> pd.DataFrame:
    """A recorded CSV; labels of rows and columns are text, also where all of them are numbers."""
    return pd.read_csv(path, dtype=dict.fromkeys(PLACE, str))
