"""EDLP's Figures 2 and 11: their sweeps fit their tables, and their panels draw what the runs measured."""

from __future__ import annotations

import functools
import io
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from omegaconf import OmegaConf

from runner.execution.errors import UserError
from runner.report.draw_figures import write_figures
from runner.report.figure_shape import PanelShape
from runner.report.figures.panel import Draw, PanelData
from runner.report.figures.style import row_styles
from runner.report.panels import hessian_spectrum, repeats, states
from runner.report.published import published_numbers
from runner.report.stored_results import gather
from runner.report.table_shape import TableShape
from runner.store.run_store import Store
from runner.sweep.jobs import Job, experiment_jobs
from runner.table import experiment_shape
from targets.synthetic.bernoulli4 import Bernoulli4

FIGURES = ("edlp_figure2", "edlp_figure11")
SEEDS = {"smoke": 2, "quick": 32, "paper": 50}
LONG = {"smoke": 400, "quick": 4000, "paper": 20000}
COMMON = ["step 0.1", "step 0.2", "step 0.4"]
LONG_COLUMNS = [f"{label}, long" for label in COMMON]
PUBLISHED_ONLY = ["EDULA, step 0.2", "exact draws"]
COMMON_ONLY = ["EDULA, eta 0.5", "EDULA, eta 2", "EDMALA, eta 0.5", "EDMALA, eta 2"]


@functools.cache
def jobs_at(experiment: str, scale: str) -> list[Job]:
    return experiment_jobs(experiment, [f"scale={scale}"])


@pytest.mark.parametrize("scale", ["smoke", "quick", "paper"])
@pytest.mark.parametrize("experiment", FIGURES)
def test_sweep_and_table_fit(experiment: str, scale: str, tmp_path: Path) -> None:
    """Every row stands in every column that is meant for it, with every seed and the length that is said."""
    shape, jobs = experiment_shape(experiment), jobs_at(experiment, scale)
    results = gather(experiment, shape, jobs, Store(tmp_path))
    assert results.columns == ["as published", *COMMON, *LONG_COLUMNS]
    seeds = list(range(SEEDS[scale]))
    for row in shape.rows:
        for column in results.columns:
            missing = PUBLISHED_ONLY if column != "as published" else COMMON_ONLY
            found = [run.seed for run in results.at(row.row, column)]
            assert found == ([] if row.row in missing else seeds), (row.row, column)
    for run in results.runs:
        long = run.column in LONG_COLUMNS
        task = run.config.task
        expected = (100, LONG[scale]) if long else (4, 1000)
        assert (task.chains, task.steps, task.burn_in) == (*expected, expected[1] // 5)


def test_the_published_column_has_the_published_step_sizes() -> None:
    jobs = [job for job in jobs_at("edlp_figure2", "quick") if job.config.task.record]
    steps = {job.row: job.config.sampler.get("step_size") for job in jobs}
    assert steps == {
        "DULA": 0.1225,
        "DMALA": 0.1,
        "EDULA": 0.1,
        "EDMALA": 0.4,
        "EDULA, step 0.2": 0.2,
        "EDULA-GLU": 0.2,
        "EDMALA-GLU": 1,
        "exact draws": None,
    }
    for job in jobs:
        if job.row.startswith(("EDULA", "EDMALA")) and "GLU" not in job.row:
            assert (job.config.sampler.eta, job.config.sampler.auxiliary_step_size) == (0.1, 0.1)


def test_the_two_figures_share_all_their_runs() -> None:
    two, eleven = (
        {run for job in jobs_at(name, "quick") for run in job.run_ids.values()} for name in FIGURES
    )
    assert two == eleven


def test_every_published_number_stands_in_the_table() -> None:
    shape = experiment_shape("edlp_figure11")
    published = published_numbers(shape)
    assert len(published) == 8
    printed = {
        "hessian_std": {"EDULA": 2.401, "DULA": 2.832, "EDMALA": 2.197, "DMALA": 2.700},
        "hessian_iqr": {"EDULA": 3.031, "DULA": 3.466, "EDMALA": 2.747, "DMALA": 3.224},
    }
    for metric, numbers in printed.items():
        for column in shape.columns:
            found = {
                row.row: number.mean
                for row in shape.rows
                if (number := published.find("paper", shape.metric(metric), column, row)) is not None
            }
            assert found == (numbers if column.label == "as published" else {})


def test_the_entropic_samplers_are_tested_against_the_plain_ones() -> None:
    for name, metric in (("edlp_figure2", "flat_mass"), ("edlp_figure11", "hessian_std")):
        pairs = [(each.metric, each.rows) for each in experiment_shape(name).comparisons]
        assert pairs == [(metric, ["EDMALA", "DMALA"]), (metric, ["EDULA", "DULA"])]


def finish(store: Store, run_id: str, seed: int, metrics: dict[str, float], visits: np.ndarray) -> None:
    """Writes a finished run that visited the states as often as `visits` says."""
    folder = store.run(run_id)
    folder.prepare()
    summary = {
        "status": "done", "run_id": run_id, "seed": seed, "metrics": metrics, "seconds": 1.0, "steps": 9,
        "evaluations": 9, "exact": True, "tuning": None, "target": "bernoulli4", "sampler": "a",
    }  # fmt: skip
    fixed = {"schema": 1, "run_id": run_id, "target": "bernoulli4", "sampler": "a", "seed": seed}
    point = {"step": 9, "seconds": 1.0, "evaluations": 9, "metric": "tv", "value": 0.5}
    content = io.BytesIO()
    np.savez(content, visits=visits)
    kept = {"visits.npz": content.getvalue()}
    folder.finish([fixed | point], summary, {"git": {}}, kept)


LAW = Bernoulli4().probabilities().numpy()
VISITS = {0: (LAW * 10**6).round().astype(np.int64), 1: np.full(16, 1000)}
"""Seed 0 visits the states in the target's proportions, seed 1 evenly."""


@pytest.fixture
def jobs() -> list[Job]:
    return jobs_at("edlp_figure11", "smoke")


@pytest.fixture
def store(tmp_path: Path, jobs: list[Job]) -> Store:
    store = Store(tmp_path / "outputs")
    for job in jobs:
        if job.config.task.record:
            for seed, run_id in job.run_ids.items():
                metrics = {"hessian_std": 2.0 + seed, "hessian_iqr": 3.0, "hessian_std_exact": 2.646}
                finish(store, run_id, seed, metrics, VISITS[seed])
    return store


@pytest.fixture
def shape() -> TableShape:
    return experiment_shape("edlp_figure11")


@pytest.fixture
def ax() -> Iterator[Axes]:
    page, ax = pyplot.subplots()
    yield ax
    pyplot.close(page)


def draw(kind: Draw, ax: Axes, shape: TableShape, jobs: list[Job], store: Store, **panel) -> None:
    """One panel of the column as published."""
    given = PanelShape(kind="", title="", columns=["as published"], **panel)
    results = gather("edlp_figure11", shape, jobs, store)
    kind(ax, PanelData(shape, given, shape.rows, results, row_styles(shape)))


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text() not in "FS"]


def test_shares_are_the_law_and_the_mean_of_the_seeds(ax: Axes, shape, jobs, store) -> None:
    draw(states.draw_shares, ax, shape, jobs, store)
    assert words(ax) == [f"{p:.3f}".lstrip("0") for p in LAW]
    np.testing.assert_allclose(ax.images[0].get_array(), LAW.reshape(4, 4))
    ax.clear()
    draw(states.draw_shares, ax, shape, jobs, store, row="EDMALA")
    mean = (LAW + 1 / 16) / 2
    np.testing.assert_allclose(ax.images[0].get_array(), mean.reshape(4, 4), atol=1e-6)


def test_flat_and_sharp_states_are_framed(ax: Axes, shape, jobs, store) -> None:
    draw(states.draw_shares, ax, shape, jobs, store)
    lettered = {
        (text.get_text(), round(text.get_position()[1] + 0.36), round(text.get_position()[0] + 0.38))
        for text in ax.texts
        if text.get_text() in "FS"
    }
    # 0100 and 1001 are flat, 0010 and 0111 sharp: first bits down, last bits across.
    assert lettered == {("F", 1, 0), ("F", 2, 1), ("S", 0, 2), ("S", 1, 3)}
    assert {patch.get_linestyle() for patch in ax.patches} == {"solid", "dashed"}


def test_gaps_are_the_shares_less_the_law(ax: Axes, shape, jobs, store) -> None:
    draw(states.draw_gaps, ax, shape, jobs, store, row="DULA")
    np.testing.assert_allclose(ax.images[0].get_array(), ((1 / 16 - LAW) / 2).reshape(4, 4), atol=1e-6)
    assert words(ax)[7] == f"{(1 / 16 - LAW[7]) / 2:+.3f}".replace("0.", ".")


def test_the_spectrum_is_that_of_the_visits(ax: Axes, shape, jobs, store) -> None:
    draw(hessian_spectrum.draw_spectrum, ax, shape, jobs, store, row="EDMALA")
    eigenvalues = torch.linalg.eigvalsh(Bernoulli4().hessians()).numpy()
    (outline,) = (patch for patch in ax.patches if patch.__class__.__name__ == "StepPatch")
    edges, bars = outline.get_data().edges, [patch.get_height() for patch in ax.containers[0]]
    for place, (low, high) in enumerate(itertools.pairwise(edges)):
        inside = ((eigenvalues >= low) & (eigenvalues < high)).mean(1)
        assert outline.get_data().values[place] == pytest.approx(inside @ LAW)
        assert bars[place] == pytest.approx(inside @ (LAW + 1 / 16) / 2, abs=1e-5)
    assert sum(bars) == pytest.approx(1.0)
    (said,) = words(ax)
    assert said.splitlines() == ["std 2.50 (sd 0.71); paper 2.197", "IQR 3.00 (sd 0.00); paper 2.747"]


def test_repeats_are_the_seeds_beside_what_was_published(ax: Axes, shape, jobs, store) -> None:
    draw(
        repeats.draw_repeats, ax, shape, jobs, store,
        metric="hessian_std", floor="hessian_std_exact", x_label="std",
    )  # fmt: skip
    clouds = [group for group in ax.collections if isinstance(group, PathCollection)]
    points = [tuple(map(float, cloud.get_offsets()[:, 0])) for cloud in clouds]
    drawn = [row for row in shape.rows if row.row not in COMMON_ONLY]
    assert points == [(2.0, 3.0)] * len(drawn)
    diamonds = {
        round(float(line.get_ydata()[0])): float(line.get_xdata()[0])
        for line in ax.lines
        if line.get_marker() == "D"
    }
    places = {row.row: place for place, row in enumerate(shape.rows)}
    assert diamonds == {
        places["DULA"]: 2.832, places["DMALA"]: 2.7, places["EDULA"]: 2.401, places["EDMALA"]: 2.197,
    }  # fmt: skip
    (exact,) = (line for line in ax.lines if line.get_linestyle() == "--")
    assert exact.get_xdata() == pytest.approx([2.646, 2.646])
    assert ax.get_xlabel() == "std; ◇ published"


def test_panels_without_runs_say_so(ax: Axes, shape, jobs, tmp_path: Path) -> None:
    empty = Store(tmp_path / "nothing")
    for kind, panel in (
        (states.draw_gaps, {"row": "DULA"}),
        (hessian_spectrum.draw_spectrum, {"row": "DULA"}),
        (repeats.draw_repeats, {"metric": "hessian_std"}),
    ):
        ax.clear()
        draw(kind, ax, shape, jobs, empty, **panel)
        assert words(ax)[0] in ("no stored visits", "no finished run")


def test_states_that_cannot_be_drawn_one_by_one_are_refused(ax: Axes, shape, jobs, store) -> None:
    grid = {
        "name": "mog",
        "_target_": "targets.synthetic.mixture_of_gaussians.MixtureOfGaussians",
        "components": 8,
    }
    others = []
    for job in jobs:
        content = {str(key): value for key, value in job.config.items_ex(resolve=False)}
        others.append(replace(job, config=OmegaConf.create({**content, "target": grid})))
    with pytest.raises(UserError, match="needs a binary target of 2 to 6 coordinates, Ordinal"):
        draw(states.draw_shares, ax, shape, others, store)


@pytest.mark.parametrize("experiment", FIGURES)
def test_figures_are_the_same_bytes_from_the_same_runs(experiment: str, store: Store, tmp_path: Path) -> None:
    shape = experiment_shape(experiment)
    results = gather(experiment, shape, jobs_at(experiment, "smoke"), store)
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        assert len(write_figures(shape, results, folder)) == 2 * len(shape.figures)
    for path in folders[0].iterdir():
        assert path.read_bytes() == (folders[1] / path.name).read_bytes(), path.name
