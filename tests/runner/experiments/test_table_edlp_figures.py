"""EDLP's Figures 2 and 11: their sweeps fit their tables, and their panels draw what the runs measured."""

from __future__ import annotations

import io
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from omegaconf import OmegaConf

from runner.config.overrides import Names
from runner.execution.errors import UserError
from runner.report import draw_figures
from runner.report.figures.panel import Draw
from runner.report.panels import hessian_spectrum, repeats, states
from runner.report.published import published_numbers
from runner.report.runs.gathered import gather
from runner.report.runs.stored_results import Results
from runner.store.run_store import Store
from targets.synthetic.bernoulli4 import Bernoulli4
from tests.support.tables import ids, jobs_at, panel_data, placed, printed, shape_of

FIGURES = ("edlp_figure2", "edlp_figure11")
COMMON = ["step 0.1", "step 0.2", "step 0.4"]
LONG_COLUMNS = [f"{label}, long" for label in COMMON]
PUBLISHED_ONLY = ["EDULA, step 0.2", "exact draws"]
COMMON_ONLY = ["EDULA, eta 0.5", "EDULA, eta 2", "EDMALA, eta 0.5", "EDMALA, eta 2"]


@pytest.mark.parametrize(
    ("scale", "long", "chosen"),
    [("smoke", 400, ()), ("quick", 4000, ("sampler=edula",)), ("paper", 20000, ("sampler=edula",))],
)
def test_sweep_and_table_fit(scale: str, long: int, chosen: tuple[str, ...]) -> None:
    """Every row stands in every column that is meant for it, with the length that is said."""
    results = placed("edlp_figure11", f"scale={scale}", *chosen)
    assert results.columns == ["as published", *COMMON, *LONG_COLUMNS]
    for row, column in itertools.product({run.row for run in results.runs}, results.columns):
        missing = PUBLISHED_ONLY if column != "as published" else COMMON_ONLY
        assert bool(results.at(row, column)) == (row not in missing), (row, column)
    for run in results.runs:
        if run.seed == 0:
            task = run.config.task
            expected = (100, long) if run.column in LONG_COLUMNS else (4, 1000)
            assert (task.chains, task.steps, task.burn_in) == (*expected, expected[1] // 5)


def test_the_two_figures_share_all_their_runs() -> None:
    two, eleven = (Names([]).composed(f"+experiment={name}")["sweep"] for name in FIGURES)
    assert two == eleven
    small, other = (ids(jobs_at(name, "scale=quick", "sampler=edula")) for name in FIGURES)
    assert small == other


def test_the_published_column_has_the_published_step_sizes() -> None:
    jobs = [job for job in jobs_at("edlp_figure11", "scale=smoke") if job.config.task.record]
    steps = {job.row: job.config.sampler.get("step_size") for job in jobs}
    assert steps == {
        "DULA": 0.1225, "DMALA": 0.1, "EDULA": 0.1, "EDMALA": 0.4, "EDULA, step 0.2": 0.2, "EDULA-GLU": 0.2,
        "EDMALA-GLU": 1, "exact draws": None,
    }  # fmt: skip
    for job in jobs:
        if job.row.startswith(("EDULA", "EDMALA")) and "GLU" not in job.row:
            assert (job.config.sampler.eta, job.config.sampler.auxiliary_step_size) == (0.1, 0.1)


def test_every_published_number_stands_in_the_table() -> None:
    assert len(published_numbers(shape_of("edlp_figure11"))) == 8
    numbers = {
        "hessian_std": {"EDULA": 2.401, "DULA": 2.832, "EDMALA": 2.197, "DMALA": 2.700},
        "hessian_iqr": {"EDULA": 3.031, "DULA": 3.466, "EDMALA": 2.747, "DMALA": 3.224},
    }
    assert {place: number.mean for place, number in printed("edlp_figure11").items()} == {
        ("paper", metric, "as published", row): mean
        for metric, of in numbers.items()
        for row, mean in of.items()
    }


def test_the_entropic_samplers_are_tested_against_the_plain_ones() -> None:
    for name, metric in zip(FIGURES, ("flat_mass", "hessian_std"), strict=True):
        pairs = [(each.metric, each.rows) for each in shape_of(name).comparisons]
        assert pairs == [(metric, ["EDMALA", "DMALA"]), (metric, ["EDULA", "DULA"])]


PROBABILITIES = Bernoulli4().probabilities().numpy()
VISITS = {0: (PROBABILITIES * 10**6).round().astype(np.int64), 1: np.full(16, 1000)}
"""Seed 0 visits the states in the target's proportions, seed 1 evenly."""


def finish(store: Store, run_id: str, seed: int) -> None:
    """Writes a finished run that visited the states as often as `VISITS` says."""
    folder = store.run(run_id)
    folder.prepare()
    metrics = {"hessian_std": 2.0 + seed, "hessian_iqr": 3.0, "hessian_std_exact": 2.646}
    summary = {
        "status": "done", "run_id": run_id, "seed": seed, "metrics": metrics, "seconds": 1.0, "steps": 9,
        "evaluations": 9, "exact": True, "tuning": None, "target": "bernoulli4", "sampler": "a",
    }  # fmt: skip
    point = {"run_id": run_id, "seed": seed, "step": 9, "seconds": 1.0, "metric": "tv", "value": 0.5}
    content = io.BytesIO()
    np.savez(content, visits=VISITS[seed])
    folder.finish([point], summary, {"git": {}}, {"visits.npz": content.getvalue()})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The runs of the published column are done."""
    store = Store(tmp_path_factory.mktemp("outputs"))
    for job in jobs_at("edlp_figure11", "scale=smoke"):
        if job.config.task.record:
            for seed, run_id in job.run_ids.items():
                finish(store, run_id, seed)
    return store


@pytest.fixture(scope="module")
def results(store: Store) -> Results:
    return gather("edlp_figure11", shape_of("edlp_figure11"), jobs_at("edlp_figure11", "scale=smoke"), store)


def draw(kind: Draw, ax: Axes, results: Results, **panel: Any) -> None:
    """One panel of the column as published."""
    kind(ax, panel_data(shape_of("edlp_figure11"), results, "as published", **panel))


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text() not in "FS"]


def test_shares_are_the_distribution_and_the_mean_of_the_seeds(ax: Axes, results: Results) -> None:
    draw(states.draw_shares, ax, results)
    assert words(ax) == [f"{p:.3f}".lstrip("0") for p in PROBABILITIES]
    np.testing.assert_allclose(ax.images[0].get_array(), PROBABILITIES.reshape(4, 4))
    ax.clear()
    draw(states.draw_shares, ax, results, row="EDMALA")
    mean = (PROBABILITIES + 1 / 16) / 2
    np.testing.assert_allclose(ax.images[0].get_array(), mean.reshape(4, 4), atol=1e-6)


def test_flat_and_sharp_states_are_framed(ax: Axes, results: Results) -> None:
    draw(states.draw_shares, ax, results)
    lettered = {
        (text.get_text(), round(text.get_position()[1] + 0.36), round(text.get_position()[0] + 0.38))
        for text in ax.texts
        if text.get_text() in "FS"
    }
    # 0100 and 1001 are flat, 0010 and 0111 sharp: first bits down, last bits across.
    assert lettered == {("F", 1, 0), ("F", 2, 1), ("S", 0, 2), ("S", 1, 3)}
    assert {patch.get_linestyle() for patch in ax.patches} == {"solid", "dashed"}


def test_gaps_are_the_shares_less_the_distribution(ax: Axes, results: Results) -> None:
    draw(states.draw_gaps, ax, results, row="DULA")
    np.testing.assert_allclose(
        ax.images[0].get_array(), ((1 / 16 - PROBABILITIES) / 2).reshape(4, 4), atol=1e-6
    )
    assert words(ax)[7] == f"{(1 / 16 - PROBABILITIES[7]) / 2:+.3f}".replace("0.", ".")


def test_the_spectrum_is_that_of_the_visits(ax: Axes, results: Results) -> None:
    draw(hessian_spectrum.draw_spectrum, ax, results, row="EDMALA")
    eigenvalues = torch.linalg.eigvalsh(Bernoulli4().hessians()).numpy()
    (outline,) = (patch for patch in ax.patches if patch.__class__.__name__ == "StepPatch")
    edges, bars = outline.get_data().edges, [patch.get_height() for patch in ax.containers[0]]
    for place, (low, high) in enumerate(itertools.pairwise(edges)):
        inside = ((eigenvalues >= low) & (eigenvalues < high)).mean(1)
        assert outline.get_data().values[place] == pytest.approx(inside @ PROBABILITIES)
        assert bars[place] == pytest.approx(inside @ (PROBABILITIES + 1 / 16) / 2, abs=1e-5)
    assert sum(bars) == pytest.approx(1.0)
    (said,) = words(ax)
    assert said.splitlines() == ["std 2.50 (sd 0.71); paper 2.197", "IQR 3.00 (sd 0.00); paper 2.747"]


def test_repeats_are_the_seeds_beside_what_was_published(ax: Axes, results: Results) -> None:
    draw(
        repeats.draw_repeats, ax, results,
        metric="hessian_std", floor="hessian_std_exact", x_label="std",
    )  # fmt: skip
    clouds = [group for group in ax.collections if isinstance(group, PathCollection)]
    points = [tuple(map(float, cloud.get_offsets()[:, 0])) for cloud in clouds]
    drawn = [row for row in shape_of("edlp_figure11").rows if row.row not in COMMON_ONLY]
    assert points == [(2.0, 3.0)] * len(drawn)
    hollow = {
        round(float(line.get_ydata()[0])): float(line.get_xdata()[0])
        for line in ax.lines
        if str(line.get_gid()).startswith("published")
    }
    places = {row.row: place for place, row in enumerate(shape_of("edlp_figure11").rows)}
    assert hollow == {
        places["DULA"]: 2.832, places["DMALA"]: 2.7, places["EDULA"]: 2.401, places["EDMALA"]: 2.197,
    }  # fmt: skip
    (exact,) = (line for line in ax.lines if str(line.get_gid()).startswith("reference"))
    assert exact.get_xdata() == pytest.approx([2.646, 2.646])
    assert ax.get_xlabel() == "std"


def test_repeats_beyond_the_limits_are_counted(ax: Axes, results: Results) -> None:
    draw(repeats.draw_repeats, ax, results, metric="hessian_std", limits=[2.2, 2.75])
    rows = [row.row for row in shape_of("edlp_figure11").rows]
    said = {(rows[round(text.xy[1])], text.get_text()) for text in ax.texts}
    drawn = [row for row in rows if row not in COMMON_ONLY]
    assert {(row, "◂ 1") for row in drawn if row != "EDMALA"} <= said
    assert {("EDMALA", "◂ 1, published"), ("EDMALA", "1 ▸"), ("DULA", "1, published ▸")} <= said
    assert len(said) == 2 * len(drawn) + len(COMMON_ONLY)
    assert {(row, "not run") for row in COMMON_ONLY} <= said
    ax.clear()
    draw(repeats.draw_repeats, ax, results, metric="hessian_std", limits=[2.0, 2.4])
    assert {text.get_text() for text in ax.texts} == {"1, mean ▸", "1, mean, published ▸", "not run"}


def test_panels_without_runs_say_so(ax: Axes) -> None:
    for kind, panel in (
        (states.draw_gaps, {"row": "DULA"}),
        (hessian_spectrum.draw_spectrum, {"row": "DULA"}),
        (repeats.draw_repeats, {"metric": "hessian_std"}),
    ):
        ax.clear()
        draw(kind, ax, placed("edlp_figure11", "scale=smoke"), **panel)
        assert words(ax)[0] in ("no stored visits", "no finished run")


def test_states_that_cannot_be_drawn_one_by_one_are_refused(ax: Axes, results: Results) -> None:
    grid = {"_target_": "targets.synthetic.mixture_of_gaussians.MixtureOfGaussians", "components": 8}
    run = next(run for run in results.runs if run.column == "as published")
    content = {str(key): value for key, value in run.config.items_ex(resolve=False)}
    other = replace(run, config=OmegaConf.create({**content, "target": {"name": "mog", **grid}}))
    with pytest.raises(UserError, match="needs a binary target of 2 to 6 coordinates, Ordinal"):
        draw(states.draw_shares, ax, Results((other,)))


@pytest.mark.parametrize("experiment", FIGURES)
def test_figures_are_the_same_bytes_from_the_same_runs(
    experiment: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One panel of each kind in every figure."""
    monkeypatch.setattr(draw_figures, "DPI", 50)
    shape = shape_of(experiment)
    figures = [
        replace(figure, panels=list({panel.kind: panel for panel in figure.panels}.values()))
        for figure in shape.figures
    ]
    shape = replace(shape, figures=figures)
    results = gather(experiment, shape, jobs_at("edlp_figure11", "scale=smoke"), store)
    first, second = (
        {path.name: path.read_bytes() for path in draw_figures.write_figures(shape, results, tmp_path)}
        for _ in range(2)
    )
    assert len(first) == 2 * len(shape.figures)
    assert first == second
