"""Growth sentences and theory's lines of a table, and the experiments of STMH that have them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pandas as pd
import pytest
from matplotlib import pyplot
from omegaconf import OmegaConf

from runner.execution.errors import UserError
from runner.report.analysis.growth import fitted_growths, growing, points
from runner.report.panels.lines import draw_against_columns
from runner.report.runs.experiment_run import Run
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape, table_shape
from tests.support.tables import finished, panel_data, placed, shape_of

GROWTH = {"metric": "cost", "x": "target.distance", "symbol": "D"}
BLOCK = OmegaConf.create(
    {
        "title": "t",
        "caption": "c",
        "rows": [{"row": "A"}, {"row": "B"}],
        "columns": [{"label": f"D = {d}", "where": {"target.distance": d}} for d in (2, 4, 8)],
        "metrics": [{"metric": "cost", "name": "Cost", "direction": "min"}],
        "growths": [
            {**GROWTH, "power": 2, "theory": {"A": "polynomial"}},
            {"metric": "cost", "x": "step", "symbol": "N", "along": "D = 4", "rows": ["A"]},
        ],
    }
)


def run(row: str, d: int, seed: int, cost: float | None) -> Run:
    steps = [10, 20, 40]
    values = {"metric": "cost", "value": [3.0 * n * (1 + seed) for n in steps]}
    curve = pd.DataFrame({"step": steps, "evaluations": steps, "seconds": 0.0, **values})
    return finished(row, f"D = {d}", seed, {"target": {"distance": d}}, {"cost": cost}, curve=curve)


@pytest.fixture
def shape() -> TableShape:
    return table_shape("made", BLOCK)


@pytest.fixture
def results() -> Results:
    runs = [run("A", d, seed, (5.0 + seed) * d**2) for d in (2, 4, 8) for seed in (0, 1)]
    runs += [run("B", d, seed, math.exp(d) if seed or d < 8 else None) for d in (2, 4, 8) for seed in (0, 1)]
    return Results(tuple(runs))


def test_the_sentences_say_exponent_best_law_and_theory(shape: TableShape, results: Results) -> None:
    square, exponential, along = growing(shape, results)
    assert square == (
        "Cost, A: grows as D^p with p = 2.00 (95 % interval 2.00 to 2.00), fitted to 3 of 3 points; R² of "
        "straight lines of its logarithm: 1.000 against log D, 0.964 against D, 0.893 against D^2. "
        "Theory: polynomial."
    )
    # exp(4) / exp(2) over a factor 2 of D: 2 / ln 2; one seed of the third column has no value.
    assert exponential == (
        "Cost, B: grows as D^p with p = 2.89, fitted to 2 of 3 points, which are always on a line."
    )
    assert along.startswith("Cost, D = 4, A: grows as N^p with p = 1.00 (95 % interval 1.00 to 1.00)")


def test_fits_over_columns_have_a_line_each(shape: TableShape, results: Results) -> None:
    """Those along runs have none, as a record does not keep their curves."""
    square, steep = (law.record() for law in fitted_growths(shape, results))
    assert (square["row"], square["cell"], square["metric"]) == ("A", "D^p", "cost")
    assert square["mean"] == pytest.approx(2.0)
    assert square["lo"] == pytest.approx(2.0) == square["hi"]
    assert (square["n"], square["points"]) == (3, 3)
    assert square["r2_log"] == pytest.approx(1.0)
    assert square["r2_linear"] == pytest.approx(0.964, abs=5e-4)
    assert square["r2_power"] == pytest.approx(0.893, abs=5e-4)
    assert steep["mean"] == pytest.approx(2.0 / math.log(2.0))
    assert (steep["lo"], steep["hi"], steep["n"], steep["points"]) == (None, None, 2, 3)


def test_an_exponential_growth_has_a_rate(results: Results) -> None:
    """ln cost is 2, 4 and 8 at D = 2, 4, 8 in the seed that is in."""
    block = BLOCK.copy()
    block.growths = [{**GROWTH, "exponential": True, "rows": ["B"]}]
    alone = Results(tuple(run for run in results.runs if run.seed == 1))
    (said,) = growing(table_shape("made", block), alone)
    assert said.startswith("Cost, B: grows as exp(p D) with p = 1.00 (95 % interval 1.00 to 1.00)")
    assert said.endswith("of its logarithm: 0.964 against log D, 1.000 against D.")


def test_along_the_runs_seeds_are_averaged(shape: TableShape, results: Results) -> None:
    assert points(shape, shape.growths[1], "A", results) == [(10, 45), (20, 90), (40, 180)]


def test_a_point_along_the_runs_without_a_value_of_each_is_none(shape: TableShape) -> None:
    """Infinite in one seed at 10, not there in one at 20: a mean over the other would be too low."""
    columns = {"evaluations": 0, "seconds": 0.0, "metric": "cost"}
    curves = [
        pd.DataFrame({"step": [10, 20, 40], "value": [math.inf, 2.0, 4.0], **columns}),
        pd.DataFrame({"step": [10, 40], "value": [3.0, 12.0], **columns}),
    ]
    config = {"target": {"distance": 4}}
    runs = [
        finished("A", "D = 4", seed, config, {"cost": 1.0}, curve=curve) for seed, curve in enumerate(curves)
    ]
    found = points(shape, shape.growths[1], "A", Results(tuple(runs)))
    assert [x for x, _ in found] == [10, 20, 40]
    assert [math.isnan(y) for _, y in found] == [True, True, False]
    assert found[2][1] == 8.0
    assert "1 of 3 points have a value" in growing(shape, Results(tuple(runs)))[2]


@pytest.mark.parametrize(("x", "places"), [("seconds", [1.0, 2.0, 4.0]), ("evaluations", [12.0, 24.0, 48.0])])
def test_seeds_are_averaged_by_step_against_other_costs(x: str, places: list[float]) -> None:
    """The times and evaluations of each seed are its own; one of three was paused for a minute."""
    steps, config = [10, 20, 40], {"target": {"distance": 4}}
    runs = [
        finished(
            "A",
            "D = 4",
            seed,
            config,
            {"cost": 1.0},
            curve=pd.DataFrame(
                {
                    "step": steps,
                    "evaluations": [step + per * step // 10 for step in steps],
                    "seconds": [pause + 0.1 * step for step in steps],
                    "metric": "cost",
                    "value": [3.0 * step * (1 + seed) for step in steps],
                }
            ),
        )
        for seed, (pause, per) in enumerate([(0.0, 1), (0.0, 2), (60.0, 3)])
        for _ in range(1 + seed)  # other commands computed some seeds again
    ]
    block = BLOCK.copy()
    block.growths[1].x = x
    shape, results = table_shape("made", block), Results(tuple(runs))
    found = points(shape, shape.growths[1], "A", results)
    assert found == [(place, 6.0 * step) for place, step in zip(places, steps, strict=True)]
    assert "p = 1.00 (95 % interval 1.00 to 1.00), fitted to 3 of 3 points" in growing(shape, results)[2]


def test_too_few_points_are_said(shape: TableShape) -> None:
    found = growing(shape, Results((run("A", 2, 0, 1.0), run("A", 4, 0, None))))
    assert found[0] == "Cost, A: 1 of 2 points have a value, too few for a fit. Theory: polynomial."
    assert found[1] == "Cost, B: 0 of 0 points have a value, too few for a fit."


@pytest.mark.parametrize("key", ["metric", "along", "rows", "theory"])
def test_a_growth_names_what_there_is(key: str) -> None:
    block = BLOCK.copy()
    block.growths[1][key] = {"metric": "x", "along": "x", "rows": ["x"], "theory": {"x": "y"}}[key]
    with pytest.raises(UserError, match="'x'"):
        table_shape("made", block)


def test_a_growth_along_a_column_goes_with_it(shape: TableShape) -> None:
    assert len(shape.restricted(["D = 2", "D = 4"]).growths) == 2
    assert len(shape.restricted(["D = 2", "D = 8"]).growths) == 1


def test_theory_is_drawn_through_the_points(shape: TableShape, results: Results) -> None:
    page, ax = pyplot.subplots()
    panel = {"metric": "cost", "row": "A", "x": "target.distance", "x_power": 2.0, "theory": 2.0}
    draw_against_columns(ax, panel_data(shape, results, "D = 2", "D = 4", "D = 8", **panel))
    (dotted,) = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert list(dotted.get_xdata()) == [4, 16, 64]
    assert list(dotted.get_ydata()) == pytest.approx([5.5 * 4, 5.5 * 16, 5.5 * 64])
    pyplot.close(page)


@pytest.mark.parametrize(
    ("power", "expected"),
    [(1.0, ["2", "4", "8"]), (2.0, ["5", "10", "20", "50"]), (4.0, ["$\\mathdefault{10^{2}}$"])],
)
def test_a_logarithmic_axis_of_columns_has_labels_that_do_not_meet(
    shape: TableShape, results: Results, power: float, expected: list[str]
) -> None:
    """The columns on less than a decade, plain numbers on less than two, then powers of ten."""
    page, ax = pyplot.subplots()
    panel = {"metric": "cost", "x": "target.distance", "x_power": power, "log_x": True}
    draw_against_columns(ax, panel_data(shape, results, "D = 2", "D = 4", "D = 8", **panel))
    low, high = ax.get_xlim()
    labels = [*ax.get_xticklabels(), *ax.get_xticklabels(minor=True)]
    shown = [each.get_text() for each in labels if low <= each.get_position()[0] <= high and each.get_text()]
    assert shown[: len(expected)] == expected
    pyplot.close(page)


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_no_theory_is_drawn_where_a_mean_has_no_logarithm(shape: TableShape, value: float) -> None:
    results = Results(
        tuple(run("A", d, seed, value if d == 4 else 1.0) for d in (2, 4, 8) for seed in (0, 1))
    )
    page, ax = pyplot.subplots()
    panel = {"metric": "cost", "row": "A", "x": "target.distance", "theory": 2.0}
    draw_against_columns(ax, panel_data(shape, results, "D = 2", "D = 4", "D = 8", **panel))
    assert list(ax.containers[0].lines[0].get_ydata()) == [1.0, value, 1.0]
    assert ":" not in [line.get_linestyle() for line in ax.lines]
    pyplot.close(page)


@pytest.mark.parametrize(
    ("experiment", "scale"), [("stmh_figure1", "smoke"), ("stmh_figure1", "paper"), ("stmh_table1", "smoke")]
)
def test_sweep_and_table_of_stmh_fit(experiment: str, scale: str) -> None:
    """Rows of all distances stand in every column, start in one mode, and are measured at once."""
    rows = [row.row for row in shape_of(experiment).rows if row.row != "STMH, runs of Figure 1"]
    chosen = ",".join(f"'{row}'" for row in rows)
    results = placed(experiment, f"scale={scale}", f"row={chosen}")
    for row, column in product(rows, results.columns):
        assert results.at(row, column), (row, column)
    for found in results.runs:
        if experiment == "stmh_figure1":
            assert list(found.config.target.start) == [10.0, 10.0]
        else:
            assert found.config.task.start == "one_mode"
        assert found.config.task.burn_in == 0
        if scale == "paper":
            assert found.config.task.chains == 20_000


def test_table_1_of_stmh_gives_long_runs_to_plain_kernels_alone() -> None:
    """Tempered ones need few steps at any distance; `task.steps` on the command line is for all."""
    steps = {
        (run.row, run.config.target.distance): run.config.task.steps
        for run in placed("stmh_table1", "scale=paper").runs
    }
    assert {steps[row, 8] for row in ("STMH", "PT random walk", "mReLD")} == {5_000}
    assert steps["random walk", 8] > steps["MALA", 8] == steps["random walk", 6] == 50_000
    given = placed("stmh_table1", "scale=paper", "scale.name=paper-short", "task.steps=70").runs
    assert {run.config.task.steps for run in given} == {70}
    assert {run.row for run in given} == {row.row for row in shape_of("stmh_table1").rows}


def test_points_at_one_place_are_too_few_for_a_fit(results: Results) -> None:
    """Such as where columns differ in something else than the place; the table is made nevertheless."""
    same = [replace(run, config=OmegaConf.create({"target": {"distance": 3}})) for run in results.runs]
    block = {**BLOCK, "growths": [{**GROWTH, "rows": ["A"]}]}
    said = growing(table_shape("made", OmegaConf.create(block)), Results(tuple(same)))
    assert said == ["Cost, A: all points have D = 3, too few for a fit."]
