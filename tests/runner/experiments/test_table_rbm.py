"""The experiments of Table 2 and of Figures 3 and 4: their sweeps fit their tables at every scale."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

import pytest

from runner.report.published import published_numbers
from runner.report.stored_results import gather
from runner.store.run_store import Store
from runner.sweep.jobs import Job, experiment_jobs
from runner.table import experiment_shape

EXPERIMENTS = ("pt_table2_sampling", "pt_table2_learning", "pt_figure3", "pt_figure4")
REAL = ["MNIST", "EMNIST", "KMNIST", "Omniglot", "Caltech"]
SETS = {"pt_figure3": ["MNIST"]}
SEEDS = {
    "pt_table2_sampling": {"smoke": 2, "quick": 3, "paper": 5},
    "pt_table2_learning": {"smoke": 2, "quick": 3, "paper": 5},
    "pt_figure3": {"smoke": 2, "quick": 5, "paper": 5},
    "pt_figure4": {"smoke": 1, "quick": 1, "paper": 1},
}


@functools.cache
def jobs_at(experiment: str, scale: str) -> list[Job]:
    return experiment_jobs(experiment, [f"scale={scale}"])


@pytest.mark.parametrize(
    ("experiment", "scale"),
    [*((name, scale) for name in EXPERIMENTS for scale in ("smoke", "quick")), (EXPERIMENTS[0], "paper")],
)
def test_sweep_and_table_fit(experiment: str, scale: str, tmp_path: Path) -> None:
    """Every row has every data set of the scale and every seed; nothing needs data to be composed."""
    shape, jobs = experiment_shape(experiment), jobs_at(experiment, scale)
    results = gather(experiment, shape, jobs, Store(tmp_path))
    expected = ["digits"] if scale == "smoke" else SETS.get(experiment, REAL)
    assert results.columns == expected
    left = shape.restricted(results.columns)
    assert [column.label for column in left.columns] == expected
    seeds = SEEDS[experiment][scale]
    for row in left.rows:
        for column in expected:
            assert [run.seed for run in results.at(row.row, column)] == list(range(seeds)), (row.row, column)
    assert results.expected == len(jobs) == len(left.rows) * len(expected) * seeds
    assert all(set(panel.columns) <= set(expected) for figure in left.figures for panel in figure.panels)
    assert left.figures


@pytest.mark.parametrize("experiment", ["pt_table2_sampling", "pt_figure3", "pt_figure4"])
def test_each_seed_samples_a_model_of_its_own(experiment: str) -> None:
    for job in jobs_at(experiment, "quick"):
        (seed,) = job.run_ids
        assert (job.config.seed, job.config.target.model_seed) == (seed, seed)
        assert job.config.target.training.iterations == 1000
        assert job.config.task.burn_in == 0


def test_the_smoke_scale_is_small_and_needs_no_download() -> None:
    for experiment in EXPERIMENTS:
        for job in jobs_at(experiment, "smoke"):
            assert (job.config.target.dataset, job.config.target.n_hidden) == ("digits", 32)


def test_a_figure_shares_its_runs_with_the_other() -> None:
    """Figure 4 on MNIST is the first seed of Figure 3: what one has computed the other skips."""
    three = {run for job in jobs_at("pt_figure3", "quick") for run in job.run_ids.values()}
    of_mnist = {
        run
        for job in jobs_at("pt_figure4", "quick")
        if job.config.target.dataset == "mnist"
        for run in job.run_ids.values()
    }
    assert len(of_mnist) == 6
    assert of_mnist < three


@pytest.mark.parametrize(("experiment", "rows"), [("pt_table2_sampling", 5), ("pt_table2_learning", 4)])
def test_every_published_number_stands_in_the_table(experiment: str, rows: int) -> None:
    """Both versions print the same: five samplers by five sets, four where models are learned."""
    shape = experiment_shape(experiment)
    published = published_numbers(shape)
    assert len(published) == 2 * (25 + 20)
    for metric in shape.metrics:
        for version in metric.published:
            for column in shape.columns:
                found = [published.find(version, metric, column, row) for row in shape.rows]
                number = 0 if column.label == "digits" else rows
                assert sum(entry is not None for entry in found) == number, (metric.metric, column.label)
                assert {entry.decimals for entry in found if entry is not None} <= {2}
    if rows == 5:
        log_mmd = shape.metric("log_mmd")
        entry = published.find("v2", log_mmd, shape.column("Caltech"), shape.row("PT-DMALA"))
        assert entry is not None
        assert (entry.mean, entry.sd) == (-4.98, 0.23)


def test_the_ordering_on_mnist_is_stated_with_a_test() -> None:
    first, second, _ = experiment_shape("pt_figure3").comparisons
    assert (first.metric, first.rows) == ("log_mmd", ["PT-DMALA", "DMALA"])
    assert (second.metric, second.rows) == ("log_mmd", ["PT-DMALA", "DMALA, step 0.15"])


@pytest.mark.parametrize("target", ["pt-table2-sampling", "pt-table2-learning", "pt-figure3", "pt-figure4"])
def test_make_knows_the_experiment(target: str) -> None:
    root = Path(__file__).parents[3]
    asked = ["make", "-n", "INSTALL=no", "VENV=/nowhere", "SCALE=smoke", target]
    # Without the variables of a make that started these tests.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    said = subprocess.run(asked, cwd=root, env=kept, capture_output=True, text=True, check=True).stdout
    name = target.replace("-", "_")
    assert f"-m runner -m +experiment={name} scale=smoke" in said
    assert f"-m runner.table {name} scale=smoke" in said
