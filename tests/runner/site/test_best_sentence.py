"""The line of result of an experiment's page claims no more than the tests of its table."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from runner.report.analysis.table_entries import summarise
from runner.report.published import published_numbers
from runner.report.runs.stored_results import Results
from runner.site.content.experiment_data import ExperimentData
from runner.site.content.experiment_places import Place
from runner.site.pages.best_sentence import best_sentence
from tests.support.tables import finished, shape_from

BLOCK = """
title: Made up
caption: For the tests.
rows: [{row: A}, {row: B}, {row: C}]
columns: [{label: one, where: {target.d: 4}}, {label: two, where: {target.d: 8}}]
metrics: [{metric: tv, name: TV, direction: min}]
"""

FAR, NEAR = {"A": 0.1, "B": 0.5, "C": 0.9}, {"A": 0.1, "B": 0.1004, "C": 0.9}
"""Values of three samplers of which B is significantly worse than A, and of which it is not."""


def data_of(seeds: int = 5, **columns: dict[str, float]) -> ExperimentData:
    """An experiment whose rows have these values, each seed another one, so that differences vary."""
    config = {"scale": {"name": "quick"}}
    noise, sizes = [0.0, 0.003, -0.002, 0.001, -0.004], {"A": 1, "B": -1, "C": 2}
    runs = [
        finished(row, column, seed, config, {"tv": value + noise[seed] * sizes[row]})
        for column, values in columns.items()
        for row, value in values.items()
        for seed in range(seeds)
    ]
    shape, results = shape_from(BLOCK), Results(tuple(runs))
    shape = shape.restricted(results.columns, results.rows)
    frame = summarise(shape, results, published_numbers(shape)).frame(shape)
    place = Place("made", "quick", Path("tables"), Path("record"))
    return ExperimentData(place, shape, None, frame, "runs", Counter())


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (data_of(one=FAR, two=FAR), "TV, significantly best: A in 2 of 2."),
        (data_of(one=FAR), "TV, significantly best: A."),
        (data_of(one=FAR, two=NEAR), "TV, significantly best: A in 1 of 2; best mean: A in 2 of 2."),
        (
            data_of(one=NEAR, two=NEAR),
            "TV, best mean: A in 2 of 2; not significantly better than every other sampler.",
        ),
        (data_of(one=NEAR), "TV, best mean: A; not significantly better than every other sampler."),
        (
            data_of(one=FAR, two={"A": 0.9, "B": 0.1, "C": 0.1001}),
            "TV, significantly best: A in 1 of 2; best mean: A in 1 of 2, C in 1 of 2.",
        ),
        (data_of(1, one=FAR, two=FAR), "TV, best mean: A in 2 of 2; without a test."),
    ],
)
def test_a_row_is_significantly_best_where_the_table_marks_no_other(data: ExperimentData, said: str) -> None:
    assert best_sentence(data) == said


def test_samplers_that_do_not_compete_change_no_claim() -> None:
    """One that is not exact is tested, and may be better; one with runs that have no value is not tested."""
    data = data_of(one=NEAR)
    rows = data.frame["row"] == "B"
    inexact = replace(data, frame=data.frame.assign(exact=data.frame["exact"] & ~rows))
    assert best_sentence(inexact) == "TV, significantly best: A."
    lost = replace(data, frame=data.frame.assign(p_value=data.frame["p_value"].mask(rows)))
    assert "not significantly better" in best_sentence(lost)
