"""The line of result of an experiment: which row has the best mean, and where tests say more than that."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from metrics.inference.few_seeds import ALPHA
from runner.report.figure_shape import Role
from runner.site.content.experiment_data import ExperimentData

NAMED = 3
"""Rows that are named, those with most columns first."""

NOT = "not significantly better than every other sampler"


def best_sentence(data: ExperimentData) -> str:
    """Which row is best by the first metric that has a best, or else the first comparison.

    A row is significantly best in a column if it is bold alone, and each other sampler that claims to be
    exact has a test against it, and no mark of one that is not significant.
    """
    frame = data.frame
    if not frame.empty and "best" in frame:
        for metric in data.shape.metrics:
            rows = {row.row for row in data.shape.rows_of(metric.metric)}
            own = frame[(frame["metric"] == metric.metric) & frame["row"].isin(rows)]
            best = own[own["best"].astype(bool)]
            if not best.empty:
                return f"{metric.name}, {_said(own, best)}."
    return data.page.findings[0] if data.page and data.page.findings else ""


def _said(numbers: pd.DataFrame, best: pd.DataFrame) -> str:
    places = list(dict.fromkeys(best["cell"]))
    means = Counter(best["row"])
    found = Counter(row for place in places for row in _significant(numbers[numbers["cell"] == place]))
    if not found:
        tested = numbers[numbers["cell"].isin(places)]["p_value"].notna().any()
        return f"best mean: {_counted(means, len(places))}; {NOT if tested else 'without a test'}"
    said = f"significantly best: {_counted(found, len(places))}"
    return said if found == means else f"{said}; best mean: {_counted(means, len(places))}"


def _significant(column: pd.DataFrame) -> list[str]:
    """The row that is significantly best in a column; none where the tests name no row."""
    best = column["best"].astype(bool)
    competing = (column["role"] == Role.sampler.value) & column["exact"].eq(True) & column["mean"].notna()
    # A test that there is not, whose p-value is missing, finds nothing.
    worse = column[competing & ~best]["p_value"] < ALPHA
    return list(column[best]["row"]) if best.sum() == 1 and len(worse) and worse.all() else []


def _counted(rows: Counter[str], places: int) -> str:
    often = rows.most_common(NAMED)
    return ", ".join(f"{row} in {number} of {places}" for row, number in often) if places > 1 else often[0][0]
