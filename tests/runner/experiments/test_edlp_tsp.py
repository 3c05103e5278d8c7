"""The experiments on tours: sweeps that fit their tables, shared runs, and panels drawn from visits."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf

from runner.config.compose import compose
from runner.execution.errors import UserError
from runner.report.draw_figures import draw_figure, write_figures
from runner.report.figures.tour_runs import quantiles, tour_distribution, visited_tours
from runner.report.panels.tour_marginals import mismatch_distribution
from runner.report.stored_results import Results, Run, gather
from runner.report.table_shape import TableShape, table_shape
from runner.store.array_files import VISITS
from runner.store.run_store import Store
from runner.sweep.jobs import Job, experiment_jobs, jobs_of, requested
from runner.sweep.preflight import preflight
from targets.tours.tsp import TSP

EXPERIMENTS = ("edlp_figure3", "edlp_figure13")


@pytest.fixture(autouse=True)
def instances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instances of the names that the experiments ask for, of few cities, below a root of the test's own."""
    (tmp_path / "tsplib").mkdir()
    for name in ("burma14", "gr17"):
        points = "\n".join(f"{city} {city * city % 7} {city}" for city in range(1, 6))
        text = f"NAME: {name}\nDIMENSION: 5\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n{points}\nEOF\n"
        (tmp_path / "tsplib" / f"{name}.tsp").write_text(text)
    monkeypatch.setenv("DATA_ROOT", str(tmp_path))


def jobs_at(experiment: str, scale: str) -> list[Job]:
    return experiment_jobs(experiment, [f"scale={scale}"])


def shape_of(experiment: str) -> TableShape:
    return table_shape(experiment, compose([f"+experiment={experiment}"]).table)


@pytest.mark.parametrize("scale", ["smoke", "quick", "paper"])
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_sweep_and_table_fit(experiment: str, scale: str, tmp_path: Path) -> None:
    jobs = jobs_at(experiment, scale)
    shape = shape_of(experiment)
    results = gather(experiment, shape, jobs, Store(tmp_path / "out"))
    left = shape.restricted(results.columns)
    assert {run.row for run in results.runs} == {row.row for row in shape.rows}
    if scale != "smoke" or experiment == "edlp_figure3":
        assert left.columns == shape.columns
    steps = {"smoke": 500, "quick": 10_000, "paper": 10_000}[scale]
    assert {(job.config.task.steps, job.config.task.burn_in) for job in jobs} == {(steps, steps // 5)}
    assert {len(job.run_ids) for job in jobs} == {{"smoke": 2, "quick": 10, "paper": 50}[scale]}


def test_preflight_passes(tmp_path: Path) -> None:
    for experiment in EXPERIMENTS:
        preflight(experiment_jobs(experiment, ["scale=quick", f"output_root={tmp_path / 'out'}"]))


def test_the_smoke_scale_needs_no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DATA_ROOT")
    for experiment in EXPERIMENTS:
        preflight(experiment_jobs(experiment, ["scale=smoke", f"output_root={tmp_path / 'out'}"]))


@pytest.mark.parametrize("scale", ["smoke", "quick"])
def test_a_figure_shares_its_runs_with_the_other(scale: str) -> None:
    def ids(experiment: str, key: str, value: Any) -> set[str]:
        found = [job for job in jobs_at(experiment, scale) if OmegaConf.select(job.config, key) == value]
        return {run_id for job in found for run_id in job.run_ids.values()}

    shared = ids("edlp_figure13", "target.file", None)
    assert shared < ids("edlp_figure3", "task.chains", 1)
    assert shared


def test_a_run_is_what_the_file_holds_and_not_where_it_lies(tmp_path: Path) -> None:
    def ids(*given: str) -> dict[int, str]:
        (job,) = jobs_of(requested(["target=tsp", "sampler=tour_swap", *given], multirun=False))
        return job.run_ids

    named = ids("target.file=gr17.tsp")
    other = tmp_path / "elsewhere" / "tsplib"
    other.mkdir(parents=True)
    content = (tmp_path / "tsplib" / "gr17.tsp").read_text()
    (other / "gr17.tsp").write_text(content)
    assert ids("target.file=gr17.tsp", f"data.root={other.parent}") == named
    assert ids(f"target.file={other / 'gr17.tsp'}", "data.root=null") == named
    assert ids("target.file=gr17.tsp", "target.cities=5") == named
    (other / "gr17.tsp").write_text(content.replace("5 ", "5 1"))
    assert ids(f"target.file={other / 'gr17.tsp'}") != named
    random = ids()
    assert ids("data.root=null") == ids(f"data.root={other.parent}") == random != named
    assert ids("target.cities=5") != random


def test_what_the_notes_say_of_the_target() -> None:
    """The numbers in the notes of the tables are the target's own."""
    target = TSP()
    costs, law = tour_distribution(target)
    mean = float(costs @ law)
    sd = float(np.sqrt(((costs - mean) ** 2) @ law))
    notes = {metric.metric: metric.note or "" for metric in shape_of("edlp_figure3").metrics}
    assert f"it is {mean:.3f};" in notes["tour_cost"]
    assert f"it is {sd:.3f}." in notes["tour_cost_sd"]
    assert f"tour has {target.optimum():.3f}." in notes["tour_cost_best"]
    assert f"{target.optimum():.3f}, 3323 and 2085." in shape_of("edlp_figure13").metrics[0].note


BLOCK = """
title: Tours
caption: For the tests.
rows: [{row: A}, {row: B}, {row: draws, role: draws}]
columns: [{label: six, where: {target.cities: 6}}]
metrics:
  - {metric: tour_cost, name: Length, direction: none}
  - {metric: tour_cost_distinct, name: Distinct, direction: none}
figures:
  - name: tours
    across: 2
    share_y: false
    legend: []
    panels:
      - {kind: tour_costs, title: once, metric: tour_cost_distinct, columns: [six]}
      - {kind: tour_costs, title: all, metric: tour_cost, columns: [six]}
      - {kind: tour_marginals, title: A, row: A, columns: [six]}
      - {kind: tour_marginals, title: B, row: B, columns: [six]}
"""
CONFIG = {"target": {"name": "tsp", "_target_": "targets.tours.tsp.TSP", "cities": 6}, "data": {"root": None}}


def counts_of(seed: int) -> np.ndarray[Any, Any]:
    """Visits to a few of the 720 tours."""
    drawn = np.random.default_rng(seed).integers(0, 720, 30)
    return np.bincount(drawn, minlength=720) * np.random.default_rng(seed + 1).integers(1, 5, 720)


def results(folder: Path, rows: str = "A") -> Results:
    """Runs of two seeds of each row; only `rows` kept their visits."""
    config: DictConfig = OmegaConf.create(CONFIG)
    runs = []
    for row in "AB":
        for seed in (0, 1):
            path = folder / f"{row}{seed}"
            path.mkdir(parents=True)
            if row in rows:
                buffer = io.BytesIO()
                np.savez_compressed(buffer, visits=counts_of(seed))
                (path / VISITS).write_bytes(buffer.getvalue())
            kept = cast(Any, SimpleNamespace(path=path))
            runs.append(
                Run(row, "six", seed, path.name, "done", config, {"metrics": {}, "seconds": 1.0}, kept)
            )
    return Results(tuple(runs))


@pytest.fixture
def shape() -> TableShape:
    return table_shape("tours", OmegaConf.create(BLOCK))


def test_visits_of_two_seeds_each_against_its_own_best(tmp_path: Path) -> None:
    target = TSP(6)
    found = visited_tours(results(tmp_path).at("A", "six"), target)
    assert found is not None
    expected = []
    for seed in (0, 1):
        counts = counts_of(seed)
        seen = [place for place in range(720) if counts[place]]
        tours = {place: target.tours()[place].tolist() for place in seen}
        costs = {place: target.cost(torch.tensor(tours[place])).item() for place in seen}
        best = min(seen, key=lambda place: (round(costs[place], 9), place))
        for place in seen:
            gap = sum(a != b for a, b in zip(tours[place], tours[best], strict=True))
            expected.append((costs[place], gap, counts[place] / counts.sum() / 2))
    np.testing.assert_allclose(
        np.stack([found.cost, found.mismatch, found.share], axis=1), expected, rtol=1e-12
    )
    assert found.share.sum() == pytest.approx(1.0)
    assert visited_tours(results(tmp_path / "none", rows="").runs, target) is None


def test_weighted_quantiles_are_those_of_repeated_values() -> None:
    values, times = np.array([3.0, 1.0, 2.0]), np.array([1, 2, 1])
    repeated = np.sort(np.repeat(values, times))
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    expected = np.quantile(repeated, levels, method="inverted_cdf")
    assert quantiles(values, times / 4, levels) == expected.tolist()


def test_the_law_of_the_mismatch_has_the_mean_that_rotations_give() -> None:
    law = mismatch_distribution(TSP(6))
    assert law.sum() == pytest.approx(1.0)
    assert law @ np.arange(7) == pytest.approx(5.0)
    assert law[1] == 0.0


def test_panels_of_tours(shape: TableShape, tmp_path: Path) -> None:
    page: Figure = draw_figure(shape.figures[0], shape, results(tmp_path))
    once, draws, scatter, empty = page.axes
    assert [label.get_text() for label in once.get_yticklabels()] == ["A", "B"]
    assert once.get_xlabel() == "length of a tour, each distinct one once"
    assert draws.get_xlabel() == "length of a tour, all draws"
    assert len(scatter.collections[0].get_offsets()) == sum(
        int((counts_of(seed) > 0).sum()) for seed in (0, 1)
    )
    assert [text.get_text() for text in empty.texts] == ["no stored visits"]


def test_figures_are_the_same_bytes_from_the_same_runs(shape: TableShape, tmp_path: Path) -> None:
    found = results(tmp_path)
    written = [path.read_bytes() for path in write_figures(shape, found, tmp_path)]
    assert written == [path.read_bytes() for path in write_figures(shape, found, tmp_path)]


def test_other_targets_have_no_panels_of_tours(shape: TableShape, tmp_path: Path) -> None:
    found = results(tmp_path)
    for run in found.runs:
        run.config.target.cities = 9
    with pytest.raises(UserError, match=r"Panels of tours need target=tsp with at most 8 cities\."):
        draw_figure(shape.figures[0], shape, found)
