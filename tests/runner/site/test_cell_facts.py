"""What a page of the report says of each number, also where it is read back from a record."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest

from runner.report.analysis.table_entries import summarise
from runner.report.numerals import Numeral
from runner.report.page.layout import NOTHING, Cell, lay_out
from runner.report.page.markdown import markdown
from runner.report.published import published_numbers
from runner.report.runs.stored_results import Results
from runner.site.content.experiment_data import ExperimentData
from runner.site.content.experiment_places import Place
from runner.site.content.recorded_table import read_page
from runner.site.pages.cell_facts import _fact, cell_facts
from tests.support.tables import finished, shape_from

TV, ENERGY = "{metric: tv, name: TV, direction: min}", "{metric: energy, name: Energy, direction: none}"
BLOCK = """
title: Recorded
caption: For the tests.
rows: [{row: A}, {row: B}]
columns: [{label: four, where: {target.d: 4}}]
metrics:
"""


def block(*metrics: str) -> str:
    return BLOCK + "".join(f"  - {metric}\n" for metric in metrics)


@pytest.mark.parametrize(
    "today",
    [
        [TV, ENERGY],
        [ENERGY, TV],
        [TV.replace("min", "min, scale: 1.0e-3"), ENERGY],
        [TV, "{metric: kl, name: KL, direction: min}", ENERGY],
        [TV.replace("TV", "Total variation")],
    ],
    ids=["as it was", "exchanged", "another unit", "one more", "one renamed, one gone"],
)
def test_the_numbers_of_a_record_are_its_own_whatever_the_experiment_is_today(today: list[str]) -> None:
    config = {"scale": {"name": "quick"}}
    runs = [
        finished(row, "four", seed, config, {"tv": 0.25 + 0.5 * seed, "energy": 30.0 + seed})
        for row in "AB"
        for seed in (0, 1)
    ]
    shape, results = shape_from(block(TV, ENERGY)), Results(tuple(runs), random_runs=True)
    summary = summarise(shape, results, published_numbers(shape))
    page = read_page(markdown(lay_out(shape, summary, results, "", "again")), [])
    data = ExperimentData(
        Place("made", "quick", Path("tables"), Path("record")),
        shape_from(block(*today)),
        page,
        summary.frame(shape),
        "record",
        Counter(),
    )
    ((tv, *_), (energy, *_)) = ([line[0] for line in lines] for lines in cell_facts(data))
    assert (tv.order, energy.order) == (0.5, 30.5)
    assert [tv.hover[:30], energy.hover[:30]] == [
        "95 % interval -2.6766 to 3.676",
        "95 % interval 24.147 to 36.853",
    ]


@pytest.mark.parametrize("name", ["DMALA, unit 10", "DMALA, unit 10⁻³", "A, unit cell"])
def test_a_row_a_column_and_a_metric_may_be_called_after_a_unit(name: str) -> None:
    """Of a metric the ending is its unit where it is written as one; of others it is a part of the name."""
    metric = "energy, unit 10" if "⁻" in name else name
    text = block(
        f'{{metric: energy, name: "{metric}", direction: none, scale: 0.5}}',
        TV.replace("min", "min, scale: 1.0e-3"),
    )
    shape = shape_from(text.replace("row: A", f'row: "{name}"').replace("label: four", f'label: "{name}"'))
    config = {"scale": {"name": "quick"}}
    runs = [
        finished(row, name, seed, config, {"tv": 0.25 + 0.5 * seed, "energy": 30.0 + seed})
        for row in (name, "B")
        for seed in (0, 1)
    ]
    results = Results(tuple(runs), random_runs=True)
    summary = summarise(shape, results, published_numbers(shape))
    page = read_page(markdown(lay_out(shape, summary, results, "", "again")), [])
    place = Place("made", "quick", Path("tables"), Path("record"))
    data = ExperimentData(place, shape, page, summary.frame(shape), "record", Counter())
    assert [(each.label.text, each.label.unit) for each in page.blocks] == [(metric, 0.5), ("TV", 1e-3)]
    for own in page.blocks:
        assert [line.label.text for line in own.lines] == [name, "B"]
        assert [group.label.text for group in own.groups] == [name]
    assert all(line[0].hover.startswith("95 % interval") for lines in cell_facts(data) for line in lines)


def test_a_number_without_a_finite_value_is_sorted_by_nothing() -> None:
    """The text nan would make the browser sort its column as words."""
    none = Cell(Numeral(NOTHING), seeds="0 of 2")
    lost = {"mean": math.nan, "lo": math.nan, "hi": math.nan, "n": 0, "p_value": math.nan}
    assert [_fact(none, number, 1.0).order for number in (lost, None)] == [None, None]
    there = Cell(Numeral("1,234"))
    assert _fact(there, lost | {"mean": 1234.5}, 1.0).order == 1234.5
