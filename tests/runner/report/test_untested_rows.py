"""A row that was not tested against the best has no mark, and the legend says so."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from runner.report.analysis.table_entries import summarise
from runner.report.page.layout import lay_out
from runner.report.published import published_numbers
from runner.report.runs.stored_results import Results
from tests.support.tables import finished, shape_from

BLOCK = """
title: Untested
caption: For the tests.
rows: [{row: A}, {row: B}, {row: C}, {row: bound, role: draws}]
columns:
  - {label: six, where: {target: maxcut}}
  - {label: ten, where: {target: ising}}
metrics:
  - {metric: emc, name: EMC, direction: max}
  - {metric: jump, name: Jump, direction: none}
"""
SAID = "No test against the best, and so no ~"

CONFIG = {"scale": {"name": "quick"}}

Values = Mapping[str, Mapping[int, float]]

BEST = {0: 3.0, 1: 3.2, 2: 3.1}
WORSE = {0: 1.0, 1: 1.3, 2: 0.9}


def legend(six: Values, ten: Values) -> list[str]:
    shape = shape_from(BLOCK)
    results = Results(
        tuple(
            finished(row, column, seed, CONFIG, {"emc": value, "jump": value})
            for column, rows in (("six", six), ("ten", ten))
            for row, seeds in rows.items()
            for seed, value in seeds.items()
        ),
        random_runs=True,
    )
    page = lay_out(shape, summarise(shape, results, published_numbers(shape)), results, "", "")
    return [sentence for sentence in page.legend if sentence.startswith(SAID)]


@pytest.mark.parametrize(
    ("six", "ten", "named"),
    [
        ({"A": BEST, "B": WORSE, "C": WORSE}, {"A": BEST, "B": WORSE}, None),
        ({"A": BEST, "B": WORSE, "C": {0: 1.0}}, {"A": BEST, "B": WORSE, "C": {0: 1.0}}, "C"),
        ({"A": BEST, "B": WORSE, "C": WORSE}, {"A": BEST, "B": WORSE, "C": {0: 1.0}}, "C (ten)"),
        ({"A": {0: 9.0}, "B": WORSE, "C": WORSE}, {"A": BEST, "B": BEST}, "B (six); C (six)"),
        ({"A": BEST, "B": dict.fromkeys(range(3, 6), 1.0)}, {"A": BEST, "B": WORSE}, "B (six)"),
        ({"A": BEST, "bound": {0: 5.0}}, {"A": BEST, "B": dict(BEST)}, None),
        ({"A": {0: 9.0}, "B": {0: 8.0}}, {"A": {0: 9.0}, "B": {0: 8.0}}, None),
    ],
)
def test_rows_without_a_test_are_named(six: Values, ten: Values, named: str | None) -> None:
    """Not those that do not compete or are equal to the best, nor where no row has a second seed."""
    said = legend(six, ten)
    if named is None:
        assert said == []
    else:
        assert len(said) == 1
        assert said[0].endswith(f"): {named}.")
