"""Metrics divided by what a run cost, and rows of exact values that runs found beside their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from metrics.inference.few_seeds import interval
from runner.report.analysis.compared_rows import compared_rows
from runner.report.analysis.comparison import compared
from runner.report.analysis.table_entries import summarise
from runner.report.analysis.unequal_costs import unequal_costs
from runner.report.budget import cost_of_runs
from runner.report.figure_shape import Role
from runner.report.page.layout import lay_out
from runner.report.page.markdown import markdown
from runner.report.published import published_numbers
from runner.report.recorded.recorded_results import RecordedResults
from runner.report.recorded.said import Said, evaluations_of
from runner.report.recorded.seed_values import read_seed_values, seed_values
from runner.report.runs.gathered import exact_values
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape
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
FLOOR = """
title: Optimum
caption: For the tests.
rows: [{row: A}, {row: B}, {row: optimum, exact: [objective]}]
columns: [{label: known, where: {target: maxcut}}]
metrics: [{metric: objective, name: Objective, direction: max, floor: optimum}]
comparisons: [{metric: objective, rows: [A, optimum]}]
"""
EXACT = [0.5, 1.0, 1.0]


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
    assert entry.interval == interval([1.05, 1.05])
    assert summary.at("energy", "A", "known").interval == interval([0.9, 1.1, 1.2])
    assert summary.at("energy", "exact value", "unknown").interval is None
    assert summary.at("ess_per_evaluation", "exact value", "known").interval is None
    assert (results.done, results.expected) == (6, 6)
    text = markdown(lay_out(shape, summary, results, "", "make it"))
    assert "| exact value | 1.05 |" in text
    assert "Energy of exact value: the exact value, not a mean over seeds." in text
    assert list(exact_values(shape.rows[0], runs)) == []


def test_a_row_may_hold_values_with_another_suffix() -> None:
    limit = "  - {row: limit, exact: [energy], suffix: infinite}\n"
    shape = shape_from(BLOCK.replace("columns:", f"{limit}columns:", 1))
    config = {"scale": {"name": "quick"}}
    known = {"energy": 0.9, "energy_exact": 1.05, "energy_infinite": 1.25}
    runs = [finished("A", "known", 0, config, known), finished("A", "unknown", 0, config, {"energy": 0.9})]
    results = Results((*runs, *(each for row in shape.rows for each in exact_values(row, runs))))
    summary = summarise(shape, results, published_numbers(shape))
    assert summary.at("energy", "limit", "known").interval == interval([1.25])
    assert summary.at("energy", "exact value", "known").interval == interval([1.05])
    assert summary.at("energy", "limit", "unknown").interval is None
    assert shape.row("limit").role is Role.draws


def instances() -> Results:
    """Three seeds of two samplers, each seed an instance of its own with another exact energy."""
    runs = [
        finished(
            row, "known", seed, {"scale": {"name": "quick"}, "task": {"chains": 2}},
            {"energy": energy + off, "energy_exact": energy, "evaluations": 50.0},
            seconds=2.0, evaluations=50, sources=[{"source": "a1"}],
        )
        for row, off in (("A", 0.1), ("B", 0.2))
        for seed, energy in enumerate(EXACT)
    ]  # fmt: skip
    return Results((*runs, *exact_values(instances_shape().rows[-1], runs)), random_runs=True)


def instances_shape() -> TableShape:
    return shape_from("""
title: Instances
caption: For the tests.
rows: [{row: A}, {row: B}, {row: exact value, exact: [energy]}]
columns: [{label: known, where: {target: ising}}]
metrics: [{metric: energy, name: Energy, direction: min, floor: exact value}]
""")


def test_a_row_of_exact_values_is_of_the_instances_of_all_seeds() -> None:
    shape, results = instances_shape(), instances()
    summary = summarise(shape, results, published_numbers(shape))
    assert results.known("exact value", "known", "energy") == dict(enumerate(EXACT))
    assert summary.at("energy", "exact value", "known").interval == interval(EXACT)
    text = markdown(lay_out(shape, summary, results, "", "make it"))
    assert "| exact value | 0.83 ± 0.72 |" in text
    assert "the exact value, averaged over seeds where these have problems of their own." in text


def test_exact_values_are_the_floor_of_all_seeds_and_do_not_compete() -> None:
    """Seed 2 reaches the optimum, and the other seven, each an instance, are below theirs by 1."""
    shape = shape_from(FLOOR)
    runs = [
        finished(
            "A", "known", seed, {"scale": {"name": "quick"}}, {"objective": 19.0, "objective_exact": best}
        )
        for seed, best in enumerate([20.0, 20.0, 19.0, 20.0, 20.0, 20.0, 20.0, 20.0])
    ]
    runs += [
        finished("B", "known", seed, {"scale": {"name": "quick"}}, {"objective": 10.0}) for seed in range(8)
    ]
    results = Results((*runs, *exact_values(shape.rows[-1], runs)), random_runs=True)
    summary = summarise(shape, results, published_numbers(shape))
    assert not summary.at("objective", "A", "known").within_floor
    assert [row for row in ("A", "B", "optimum") if summary.at("objective", row, "known").best] == ["A"]
    (sentence,) = compared(compared_rows(shape, results))
    assert "significantly different (p = 0.00021, n = 8); A is lower, which is worse." in sentence


def test_a_row_of_exact_values_costs_nothing() -> None:
    """The runs that its values come from count once, in their own row."""
    results = instances()
    cost = cost_of_runs(results)
    assert cost["seconds"]["sampling"] == 12.0
    assert cost["evaluations_per_chain"] == {"A": "50", "B": "50"}
    assert cost["runs"]["expected"] == 6
    assert results.sources == {"a1": 6}


def test_a_record_keeps_the_exact_value_of_each_seed(tmp_path: Path) -> None:
    shape, results = instances_shape(), instances()
    summary = summarise(shape, results, published_numbers(shape))
    (tmp_path / "seeds.csv").write_text(seed_values(shape, results))
    recorded = RecordedResults(
        results.runs,
        frame=summary.frame(shape),
        seed_values=read_seed_values(tmp_path / "seeds.csv"),
        said=Said("", 3, [], {}, ["exact value | known | energy"], {}),
    )
    assert recorded.known("exact value", "known", "energy") == dict(enumerate(EXACT))
    assert list(summarise(shape, recorded, published_numbers(shape))) == list(summary)


COSTS = """
title: Costs
caption: For the tests.
rows: [{row: lazy}, {row: dmala}, {row: gibbs}, {row: draws, role: draws}]
columns: [{label: ring, where: {target: ising}}, {label: bits, where: {target: bernoulli}}]
metrics: [{metric: tv, name: TV, direction: min}]
"""
Spent = dict[str, dict[str, float]]


def costing(spent: Spent, steps: dict[str, int] | None = None) -> Results:
    """Two seeds of each row and column, of so many evaluations a chain on average."""
    return Results(
        tuple(
            finished(
                row,
                column,
                seed,
                {"scale": {"name": "quick"}, "task": {"steps": (steps or {}).get(row, 2000)}},
                {"tv": 0.1 + seed},
                evaluations=cost + 10 * (2 * seed - 1),
            )
            for column, costs in spent.items()
            for row, cost in costs.items()
            for seed in (0, 1)
        )
    )


EQUAL: Spent = {"ring": {"lazy": 2000, "dmala": 1990, "gibbs": 2010, "draws": 0}}
TWICE: Spent = {"ring": {"lazy": 2000, "dmala": 2000, "gibbs": 4000, "draws": 0}}
SAID = (
    "The rows are compared at equal steps, not at equal evaluations of the target: a chain took 4,000 "
    "(gibbs) and 2,000 (lazy; dmala)."
)


@pytest.mark.parametrize(
    ("spent", "said"),
    [
        (EQUAL, []),
        ({"ring": {"lazy": 2000, "gibbs": 1900}}, []),
        ({"ring": {"lazy": 2000}}, []),
        (TWICE, [SAID]),
        (TWICE | {"bits": TWICE["ring"]}, [SAID]),
        (TWICE | {"bits": EQUAL["ring"]}, [f"ring: {SAID}"]),
    ],
)
def test_a_sentence_says_where_rows_took_other_numbers_of_evaluations(spent: Spent, said: list[str]) -> None:
    """Gibbs with twice the evaluations stood beside the others with stars and tests, without a word."""
    results = costing(spent)
    shape = shape_from(COSTS).restricted(results.columns)
    assert unequal_costs(shape, results) == said
    page = lay_out(shape, summarise(shape, results, published_numbers(shape)), results, "", "make it")
    assert [text for _, text in page.footnotes] == said


def test_rows_of_other_lengths_are_not_said_to_be_compared_at_equal_steps() -> None:
    (said,) = unequal_costs(shape_from(COSTS).restricted(["ring"]), costing(TWICE, {"gibbs": 4000}))
    assert said.startswith("The rows are compared as they ran, not at equal evaluations")


def test_of_many_rows_and_columns_the_extremes_and_the_first_are_named() -> None:
    rows = [f"r{number}" for number in range(12)]
    spent = {f"c{place}": {row: 100.0 * (n + place + 1) for n, row in enumerate(rows)} for place in range(5)}
    block = f"rows: [{', '.join(f'{{row: {row}}}' for row in rows)}]"
    columns = ", ".join(f"{{label: {column}, where: {{target: ising}}}}" for column in spent)
    lines = [
        block if line.startswith("rows") else f"columns: [{columns}]" if line.startswith("columns") else line
        for line in COSTS.splitlines()
    ]
    said = unequal_costs(shape_from("\n".join(lines)), costing(spent))
    assert len(said) == 4
    assert said[0].startswith("c0: The rows")
    assert said[0].endswith("a chain took from 100 (r0) to 1,200 (r11).")
    assert said[3] == "Nor are the rows compared at equal evaluations in 2 more columns."


def test_a_record_keeps_the_evaluations_of_its_rows() -> None:
    results = costing(TWICE)
    shape = shape_from(COSTS).restricted(results.columns)
    kept = Said("", 2, [1], {}, [], {}, evaluations=evaluations_of(shape, results))
    frame = summarise(shape, results, published_numbers(shape)).frame(shape)
    assert unequal_costs(shape, RecordedResults(results.runs, frame=frame, said=kept)) == [SAID]
    earlier = Said("", 2, [1], {}, [], {})
    assert unequal_costs(shape, RecordedResults(results.runs, frame=frame, said=earlier)) == []
