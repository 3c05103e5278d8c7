"""Where the expectation of exact draws is known, a table prints it and not its estimate."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from metrics.inference.few_seeds import interval
from runner.report.analysis.compared_rows import compared_rows
from runner.report.analysis.comparison import compared
from runner.report.analysis.growth import growing
from runner.report.analysis.table_entries import summarise
from runner.report.page.layout import lay_out
from runner.report.page.markdown import markdown
from runner.report.published import published_numbers
from runner.report.recorded.recorded_results import RecordedResults
from runner.report.recorded.said import Said
from runner.report.runs.experiment_run import Run
from runner.report.runs.stored_results import Results
from tests.support.tables import finished, panel_data, shape_from

BLOCK = """
title: A small table
caption: For the tests.
rows:
  - {row: A}
  - {row: exact draws, role: draws}
columns:
  - {label: eight, where: {target: mog}}
metrics:
  - {metric: mmd_exact, name: MMD², direction: min, scale: 1.0e-3, floor: exact draws}
  - {metric: emc, name: EMC, direction: max}
"""
MEASURED = {"A": [0.06e-3, 0.07e-3, 0.09e-3], "exact draws": [0.05e-3, 0.06e-3, 0.04e-3]}
KNOWN = 0.0562e-3
CONFIG = {"scale": {"name": "quick"}, "sampler": {"_target_": "samplers.discrete.gibbs.Gibbs"}}
DRAWS = CONFIG | {"sampler": {"_target_": "samplers.reference.reference_draws.ExactDraws"}}


def measured(first: int = 0) -> list[Run]:
    """Runs with the seeds from `first` on."""
    runs = []
    for row, values in MEASURED.items():
        for place, value in enumerate(values):
            drawn = row == "exact draws"
            metrics = {"mmd_exact": value, "emc": 1.0 - value} | (
                {"mmd_exact_expected": KNOWN} if drawn else {}
            )
            runs.append(finished(row, "eight", first + place, DRAWS if drawn else CONFIG, metrics))
    return runs


def test_what_is_known_of_exact_draws_is_printed_and_not_estimated() -> None:
    runs = measured()
    shape, results = shape_from(BLOCK), Results(tuple(runs))
    summary = summarise(shape, results, published_numbers(shape))
    entry = summary.at("mmd_exact", "exact draws", "eight")
    assert entry.closed_form
    assert entry.interval == interval([KNOWN] * 3)
    assert (
        panel_data(shape, results, "eight", metric="mmd_exact").interval("exact draws", "eight")
        == entry.interval
    )
    # Tests against the floor take what is printed of it.
    assert summary.at("mmd_exact", "A", "eight").within_floor
    assert not summary.at("mmd_exact", "A", "eight").closed_form
    assert not summary.at("emc", "exact draws", "eight").closed_form
    text = markdown(lay_out(shape, summary, results, "", "make it"))
    assert "| exact draws | 0.0562 |" in text
    assert "MMD² of exact draws: the expected value of as many independent draws, in closed form" in text


def test_sentences_are_of_the_numbers_that_the_table_prints() -> None:
    """On growth and on differences, whatever the runs drew; and the CSV says which they are."""
    block = """
title: A small table
caption: For the tests.
rows:
  - {row: A}
  - {row: exact draws, role: draws}
columns:
  - {label: two, where: {task.chains: 2}}
  - {label: four, where: {task.chains: 4}}
  - {label: eight, where: {task.chains: 8}}
metrics:
  - {metric: mmd_exact, name: MMD², direction: min}
comparisons:
  - {metric: mmd_exact, rows: [A, exact draws]}
growths:
  - {metric: mmd_exact, x: task.chains, symbol: C, rows: [exact draws]}
"""
    runs = []
    for label, chains in (("two", 2), ("four", 4), ("eight", 8)):
        task = {"task": {"chains": chains}}
        for seed in range(3):
            own = {"mmd_exact": 1.5 + 0.1 * seed}
            drawn = {"mmd_exact": (1.0 + seed) / chains**2, "mmd_exact_expected": 1.0 / chains}
            runs += [
                finished("A", label, seed, CONFIG | task, own),
                finished("exact draws", label, seed, DRAWS | task, drawn),
            ]
    shape, results = shape_from(block), Results(tuple(runs))
    assert "p = -1.00 (95 % interval -1.00 to -1.00)" in growing(shape, results)[0]
    said = compared(compared_rows(shape, results))
    assert ["A against exact draws, 1.6 against 0.5" in said[0], "1.6 against 0.125" in said[2]] == [
        True,
        True,
    ]
    frame = summarise(shape, results, published_numbers(shape)).frame(shape).set_index(["row", "cell"])
    assert frame.loc[("exact draws", "two"), "mean"] == pytest.approx(0.5)
    assert list(frame["closed_form"]) == [False, True] * 3


def test_a_sampler_keeps_what_it_measured_beside_a_result_called_expected() -> None:
    """A metric of one's own may name its results as it likes; draws alone have an expectation for a value."""
    runs = [
        finished(row, "eight", seed, config, {"emc": 0.3 + 0.1 * seed, "emc_expected": 0.25})
        for row, config in (("A", CONFIG), ("exact draws", DRAWS))
        for seed in range(3)
    ]
    shape, results = shape_from(BLOCK), Results(tuple(runs))
    summary = summarise(shape, results, published_numbers(shape))
    sampled, drawn = (summary.at("emc", row, "eight") for row in ("A", "exact draws"))
    assert (sampled.closed_form, sampled.interval) == (False, interval([0.3, 0.4, 0.5]))
    assert (drawn.closed_form, drawn.interval) == (True, interval([0.25] * 3))


@pytest.mark.parametrize("first", [0, 10])
def test_a_record_pairs_the_expectation_with_the_seeds_of_others(first: int) -> None:
    """Whatever the seeds are called, and also where a run of exact draws failed."""
    runs = measured(first)
    failed = replace(runs[-1], seed=first + 3, summary=None, status="failed")
    shape, results = shape_from(BLOCK), Results((*runs, failed))
    summary = summarise(shape, results, published_numbers(shape))
    entry = summary.at("mmd_exact", "exact draws", "eight")
    assert (entry.closed_form, entry.without_value) == (True, 0)
    recorded = RecordedResults(
        results.runs,
        frame=summary.frame(shape),
        seed_values={
            place: results.values(*place) for place in product(MEASURED, ["eight"], ["mmd_exact", "emc"])
        },
        said=Said("", 3, [], {}, ["exact draws | eight | mmd_exact"], {}),
    )
    again = summarise(shape, recorded, published_numbers(shape))
    for metric, row in product(("mmd_exact", "emc"), MEASURED):
        assert again.at(metric, row, "eight") == summary.at(metric, row, "eight")
