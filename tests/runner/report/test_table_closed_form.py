"""Where the expectation of exact draws is known, a table prints it and not its estimate."""

from __future__ import annotations

from metrics.inference.few_seeds import interval
from runner.report.analysis.table_entries import summarise
from runner.report.page.layout import lay_out
from runner.report.page.markdown import markdown
from runner.report.published import published_numbers
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


def test_what_is_known_of_exact_draws_is_printed_and_not_estimated() -> None:
    runs = []
    for row, values in MEASURED.items():
        for seed, value in enumerate(values):
            known = {"mmd_exact_expected": KNOWN} if row == "exact draws" else {}
            metrics = {"mmd_exact": value, "emc": 1.0 - value, **known}
            runs.append(finished(row, "eight", seed, {"scale": {"name": "quick"}}, metrics))
    shape, results = shape_from(BLOCK), Results(tuple(runs))
    summary = summarise(shape, results, published_numbers(shape))
    entry = summary.at("mmd_exact", "exact draws", "eight")
    assert entry.closed_form
    assert entry.interval == interval([KNOWN] * 3)
    assert (
        panel_data(shape, results, "eight", metric="mmd_exact").interval("exact draws", "eight")
        == entry.interval
    )
    # Tests against the floor pair the values of the seeds.
    assert summary.at("mmd_exact", "A", "eight").within_floor
    assert not summary.at("mmd_exact", "A", "eight").closed_form
    assert not summary.at("emc", "exact draws", "eight").closed_form
    text = markdown(lay_out(shape, summary, results, "", "make it"))
    assert "| exact draws | 0.0562 |" in text
    assert "MMD² of exact draws: the expected value of as many independent draws, in closed form" in text
