"""Metrics divided by what a run cost, and rows of exact values that runs found beside their own."""

from __future__ import annotations

import pytest

from metrics.inference.few_seeds import interval
from runner.report.analysis.table_entries import summarise
from runner.report.page.layout import lay_out
from runner.report.page.markdown import markdown
from runner.report.published import published_numbers
from runner.report.runs.stored_results import Results, exact_values
from tests.support.tables import finished, shape_from

BLOCK = """
title: A small table
caption: For the tests.
rows:
  - {row: A}
  - {row: exact value, role: draws, exact: [energy]}
columns:
  - {label: known, where: {target: ising}}
  - {label: unknown, where: {target: spin_glass}}
metrics:
  - {metric: energy, name: Energy, direction: none}
  - {metric: ess_per_evaluation, name: Draws in 1000 evaluations, direction: max, scale: 1.0e-3}
"""


def test_a_metric_is_divided_by_seconds_and_by_the_evaluations_of_all_chains() -> None:
    config = {"scale": {"name": "quick"}, "task": {"chains": 20}}
    run = finished(
        "A", "known", 0, config, {"ess": 30.0, "evaluations": 150.0, "a_per_second": 5.0}, seconds=4.0
    )
    assert run.value("ess_per_second") == 7.5
    assert run.value("ess_per_evaluation") == pytest.approx(30.0 / 3000)
    assert run.value("a_per_second") == 5.0  # measured under this name
    assert run.value("rhat_per_second") is None
    free = finished("A", "known", 0, config, {"ess": 30.0, "evaluations": 0.0}, seconds=4.0)
    assert free.value("ess_per_evaluation") is None


def test_a_row_of_exact_values_holds_what_any_run_of_the_column_knows() -> None:
    shape, runs = shape_from(BLOCK), []
    for seed, energy in enumerate([0.9, 1.1, 1.2]):
        config = {"scale": {"name": "quick"}}
        known = {"energy": energy, "energy_exact": 1.05, "ess": 30.0, "evaluations": 150.0}
        runs += [
            finished("A", "known", seed, config, known if seed else {"energy": energy}),
            finished("A", "unknown", seed, config, {"energy": energy}),
        ]
    results = Results((*runs, *exact_values(shape.rows[1], runs)))
    summary = summarise(shape, results, published_numbers(shape))
    entry = summary.at("energy", "exact value", "known")
    assert entry.closed_form
    assert entry.interval == interval([1.05])
    assert summary.at("energy", "A", "known").interval == interval([0.9, 1.1, 1.2])
    assert summary.at("energy", "exact value", "unknown").interval is None
    assert summary.at("ess_per_evaluation", "exact value", "known").interval is None
    assert (results.done, results.expected) == (6, 6)
    text = markdown(lay_out(shape, summary, results, "", "make it"))
    assert "| exact value | 1.05 |" in text
    assert "Energy of exact value: the exact value, not a mean over seeds." in text
    assert list(exact_values(shape.rows[0], runs)) == []
