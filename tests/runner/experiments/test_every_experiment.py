"""Every experiment at every scale: its sweep composes, its runs stand in its table, its panels are read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from runner.config.overrides import Names
from runner.report.panel_kinds import check_panels
from runner.report.published import published_numbers
from runner.report.runs.stored_results import Results
from tests.support.tables import jobs_at, placed, printed, shape_of

EXPERIMENTS = sorted(path.stem for path in Path("conf/experiment").glob("*.yaml"))
SCALES = ("smoke", "quick", "paper")
SEEDS = {
    **dict.fromkeys(("edlp_figure2", "edlp_figure11"), (2, 32, 500)),
    **dict.fromkeys(("edlp_figure3", "edlp_figure3_exact", "edlp_figure3_released"), (2, 10, 50)),
    "edlp_figure13": (2, 10, 50),
    **dict.fromkeys(("pt_table2_sampling", "pt_table2_learning"), (2, 3, 5)),
    "pt_figure3": (2, 5, 5),
    "pt_figure4": (1, 1, 1),
}


def sweep_of(experiment: str) -> dict[str, Any]:
    return Names([]).composed(f"+experiment={experiment}")["sweep"]


def fitting(experiment: str, scale: str, *overrides: str) -> Results:
    """The runs of an experiment, which must have all seeds of the sweep, or of a row, wherever it has one."""
    results = placed(experiment, f"scale={scale}", *overrides)
    first = jobs_at(experiment, f"scale={scale}", *overrides)[0].config
    sweep = sweep_of(experiment)
    shared = sweep.get("seeds", {}).get(scale) or first.scale.seeds
    numbers = {row.get("seeds", {}).get(scale, shared) for row in sweep["rows"]}
    for row, column in {(run.row, run.column) for run in results.runs}:
        seeds = [run.seed for run in results.at(row, column)]
        assert seeds == list(range(len(seeds))), (row, column)
        assert len(seeds) in numbers, (row, column)
    return results


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_an_experiment_fits_its_table_at_every_scale(experiment: str) -> None:
    """By the rows of one sampler, that of the fewest, or by one value of what the rows sweep."""
    shape, rows = shape_of(experiment), sweep_of(experiment)["rows"]
    check_panels(shape.figures)
    assert {row["row"] for row in rows} == {row.row for row in shape.rows if not row.exact}
    samplers = Counter(row["sampler"] for row in rows if isinstance(row.get("sampler"), str))
    chosen = [f"{key}={value[0]}" for key, value in rows[0].items() if isinstance(value, list)][:1]
    if samplers:
        chosen = [f"sampler={min(samplers, key=samplers.__getitem__)}"]
    for scale, seeds in zip(SCALES, SEEDS.get(experiment, (0, 0, 0)), strict=True):
        if scale == "quick" and "quick" not in sweep_of(experiment).get("scales", {}) and not seeds:
            continue  # Its values are those of conf/scale alone.
        results = fitting(experiment, scale, *chosen)
        columns = results.columns
        assert not seeds or len({run.seed for run in results.runs}) == seeds
        assert columns
        assert bool(shape.restricted(columns).figures) == bool(shape.figures)


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_row_of_an_experiment_has_runs(experiment: str, scale: str) -> None:
    rows = {row.row for row in shape_of(experiment).rows if not row.exact}
    assert {run.row for run in fitting(experiment, scale).runs} == rows


@pytest.mark.parametrize("experiment", ["pt_table1", "pt_table4", "pt_table5"])
def test_four_rows_of_a_table_on_grids_have_published_numbers(experiment: str) -> None:
    shape = shape_of(experiment)
    assert len(published_numbers(shape)) == 64
    places = [place[:3] for place in printed(experiment)]
    assert len(places) == 4 * len(shape.columns) * sum(len(metric.published) for metric in shape.metrics)
    assert {places.count(place) for place in places} == {4}


def test_a_published_step_is_the_same_number_in_every_experiment() -> None:
    """(0.15 x 101)^4: the released code takes the published 0.15 for a share of the grid's 101 cells."""
    rows = [("pt_table1", "DMALA, step 5.27e4"), *((f"pt_table{n}_released", "DMALA") for n in (1, 4, 5))]
    steps = {
        row["sampler.step_size"]
        for experiment, name in rows
        for row in sweep_of(experiment)["rows"]
        if row["row"] == name
    }
    assert steps == {round((0.15 * 101) ** 4, 6)}


@pytest.mark.parametrize("scale", SCALES)
def test_a_row_of_stmh_table_1_is_of_runs_of_figure_1(scale: str) -> None:
    """Both experiments write the numbers of steps, since a row cannot have those of another file."""
    figure = placed("stmh_figure1", f"scale={scale}", "row='STMH, eta = (D/2)²'")
    row = placed("stmh_table1", f"scale={scale}", "row='STMH, runs of Figure 1'")
    assert row.runs
    known = {run.run_id for run in figure.runs}
    assert {run.run_id for run in row.runs} <= known
    assert scale == "smoke" or len(row.runs) == len(known)
