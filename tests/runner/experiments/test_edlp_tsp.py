"""The experiments on tours: sweeps that fit their tables, shared runs, and panels drawn from visits."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from omegaconf import OmegaConf

from runner.execution.errors import UserError
from runner.problem.build import build_target
from runner.report import draw_figures
from runner.report.figures.tour_runs import quantiles, tour_distribution, visited_tours
from runner.report.panels.tour_marginals import mismatch_distribution
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape
from runner.store.arrays.array_files import VISITS
from runner.sweep.jobs import jobs_of, requested
from runner.sweep.preflight import preflight
from targets.tours.released_tsp import ReleasedTSP
from targets.tours.tour_density import TourDensity
from targets.tours.tsp import TSP
from tests.support.tables import finished, ids, jobs_at, placed, shape_from, shape_of

EXPERIMENTS = ("edlp_figure3", "edlp_figure13")


@pytest.mark.parametrize(("scale", "steps"), [("smoke", 500), ("quick", 10_000), ("paper", 10_000)])
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_length_and_the_columns_of_a_scale(experiment: str, scale: str, steps: int) -> None:
    chosen = (f"scale={scale}", *(["sampler=pt_tour_swap"] if scale == "paper" else []))
    tasks = [job.config.task for job in jobs_at(experiment, *chosen)]
    assert {(task.steps, task.burn_in) for task in tasks} == {(steps, steps // 5)}
    if scale != "smoke" or experiment == "edlp_figure3":
        columns = [column.label for column in shape_of(experiment).columns]
        assert sorted(placed(experiment, *chosen).columns) == sorted(columns)


def test_preflight_passes_and_smoke_needs_no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    preflight([job for experiment in EXPERIMENTS for job in jobs_at(experiment, "scale=quick")])
    monkeypatch.delenv("DATA_ROOT")
    preflight([job for experiment in EXPERIMENTS for job in jobs_at(experiment, "scale=smoke")])


@pytest.mark.parametrize("scale", ["smoke", "quick"])
def test_a_figure_shares_its_runs_with_the_other(scale: str) -> None:
    three, thirteen = (jobs_at(experiment, f"scale={scale}") for experiment in EXPERIMENTS)
    shared = ids(job for job in thirteen if OmegaConf.select(job.config, "target.file") is None)
    assert shared < ids(job for job in three if job.config.task.chains == 1)
    assert shared


def test_a_run_is_what_the_file_holds_and_not_where_it_lies(instances: Path, tmp_path: Path) -> None:
    def runs(*given: str) -> dict[int, str]:
        (job,) = jobs_of(requested(["target=tsp", "sampler=tour_swap", *given], multirun=False))
        return job.run_ids

    named = runs("target.file=gr17.tsp")
    other = tmp_path / "elsewhere" / "tsplib"
    other.mkdir(parents=True)
    content = (instances / "tsplib" / "gr17.tsp").read_text()
    (other / "gr17.tsp").write_text(content)
    assert runs("target.file=gr17.tsp", f"data.root={other.parent}") == named
    assert runs(f"target.file={other / 'gr17.tsp'}", "data.root=null") == named
    (other / "gr17.opt.tour.gz").write_bytes(gzip.compress(b"TOUR_SECTION"))
    assert runs(f"target.file={other / 'gr17.tsp'}") != named
    (other / "gr17.opt.tour.gz").unlink()
    (other / "gr17.tsp").write_text(content.replace("5 ", "5 1"))
    assert runs(f"target.file={other / 'gr17.tsp'}") != named
    random = runs()
    assert runs("data.root=null") == runs(f"data.root={other.parent}") == random != named
    assert runs("target.cities=5") != random


@pytest.mark.parametrize(
    ("experiment", "target"),
    [
        ("edlp_figure3", TSP()),
        ("edlp_figure3_exact", TSP(scale=1.0)),
        ("edlp_figure3_released", ReleasedTSP()),
    ],
)
def test_what_the_notes_say_of_the_lengths(experiment: str, target: TourDensity) -> None:
    """The numbers in the notes of the tables are the target's own."""
    built = {build_target(job.config).scale for job in jobs_at(experiment, "scale=paper")}
    assert built == {target.scale}
    costs, probabilities = tour_distribution(target)
    mean = float(costs @ probabilities)
    sd = float(np.sqrt(((costs - mean) ** 2) @ probabilities))
    notes = {metric.metric: metric.note or "" for metric in shape_of(experiment).metrics}
    assert re.search(rf"it is {mean:.3f}[;.]", notes["tour_cost"])
    assert f"it is {sd:.3f}." in notes["tour_cost_sd"]


def test_what_the_notes_say_of_the_shortest_tours() -> None:
    target = TSP()
    notes = {metric.metric: metric.note or "" for metric in shape_of("edlp_figure3").metrics}
    assert f"tour has {target.optimum():.3f} (weighted" in notes["tour_cost_best"]
    longer = shape_of("edlp_figure13").metrics[0].note or ""
    assert f"tours have {target.optimum():.3f} (weighted" in longer
    assert "3,323 (burma14) and 2,085 (gr17" in longer


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


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Runs of two seeds of each row; only A kept its visits."""
    runs = []
    for row, seed in (("A", 0), ("A", 1), ("B", 0), ("B", 1)):
        folder = tmp_path / f"{row}{seed}"
        folder.mkdir()
        if row == "A":
            buffer = io.BytesIO()
            np.savez_compressed(buffer, visits=counts_of(seed))
            (folder / VISITS).write_bytes(buffer.getvalue())
        runs.append(finished(row, "six", seed, CONFIG, {}, folder))
    return Results(tuple(runs))


@pytest.fixture
def shape() -> TableShape:
    return shape_from(BLOCK)


def test_visits_of_two_seeds_each_against_its_own_best(results: Results) -> None:
    target = TSP(6)
    found = visited_tours(results.at("A", "six"), target)
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
    assert visited_tours(results.at("B", "six"), target) is None


def test_weighted_quantiles_are_those_of_repeated_values() -> None:
    values, times = np.array([3.0, 1.0, 2.0]), np.array([1, 2, 1])
    repeated = np.sort(np.repeat(values, times))
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    expected = np.quantile(repeated, levels, method="inverted_cdf")
    assert quantiles(values, times / 4, levels) == expected.tolist()


def test_the_distribution_of_the_mismatch_has_the_mean_that_rotations_give() -> None:
    probabilities = mismatch_distribution(TSP(6))
    assert probabilities.sum() == pytest.approx(1.0)
    assert probabilities @ np.arange(7) == pytest.approx(5.0)
    assert probabilities[1] == 0.0


def test_panels_of_tours(shape: TableShape, results: Results) -> None:
    page: Figure = draw_figures.draw_figure(shape.figures[0], shape, results)
    once, draws, scatter, empty = page.axes
    assert [label.get_text() for label in once.get_yticklabels()] == ["A", "B"]
    assert once.get_xlabel() == "length of a tour, each distinct one once"
    assert draws.get_xlabel() == "length of a tour, all draws"
    visited = sum(int((counts_of(seed) > 0).sum()) for seed in (0, 1))
    assert len(scatter.collections[0].get_offsets()) == visited
    assert [text.get_text() for text in empty.texts] == ["no stored visits"]


def test_figures_are_the_same_bytes_from_the_same_runs(
    shape: TableShape, results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draw_figures, "DPI", 50)
    written = [path.read_bytes() for path in draw_figures.write_figures(shape, results, tmp_path)]
    assert written == [path.read_bytes() for path in draw_figures.write_figures(shape, results, tmp_path)]


def test_other_targets_have_no_panels_of_tours(shape: TableShape, results: Results) -> None:
    for run in results.runs:
        run.config.target.cities = 9
    with pytest.raises(
        UserError, match=r"Panels of tours need a target of tours, such as tsp, of at most 8 cities\."
    ):
        draw_figures.draw_figure(shape.figures[0], shape, results)
