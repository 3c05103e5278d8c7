"""EDLP Table 1 and Figure 14: their sweeps, their shared images and the places of what is published."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from matplotlib.figure import Figure
from omegaconf import OmegaConf

from runner.report.draw_figures import draw_figure
from runner.report.experiment_shape import experiment_shape
from runner.report.published import published_numbers
from runner.report.runs.experiment_run import Run
from runner.report.runs.gathered import gather
from runner.report.runs.stored_results import Results
from runner.report.table_shape import table_shape
from runner.store.run_store import Store
from runner.sweep.jobs import experiment_jobs
from runner.tasks.images import sampled_images

ROWS = ["BG-1", "DMALA", "DULA", "EDMALA", "EDULA", "HB-10-1", "block Gibbs, layers", "training images"]
INPUTS = ("clean", "noisy", "occluded")
RELEASED = "edlp_table1_released"
SCALES = {
    "smoke": (2, 20, 400, "digits"),
    "quick": (3, 200, 5000, "MNIST"),
    "paper": (5, 1000, 5000, "MNIST"),
}
"""Seeds, thinning, images and data set at each scale."""


@pytest.mark.parametrize("scale", SCALES)
def test_the_sweeps_fit_their_tables_and_share_their_images(scale: str, tmp_path: Path) -> None:
    """All rows at smoke; at other scales, where only values differ, one of them."""
    seeds, thinning, samples, data = SCALES[scale]
    chosen, swept = ([], ROWS) if scale == "smoke" else (["sampler=dmala"], ["DMALA"])
    images = {}
    for experiment, expected in (
        ("edlp_table1", [f"{data}, {shown}{test}" for shown in INPUTS for test in ("", ", grey")]),
        ("edlp_figure14", [data]),
    ):
        shape, jobs = experiment_shape(experiment), experiment_jobs(experiment, [f"scale={scale}", *chosen])
        results = gather(experiment, shape, jobs, Store(tmp_path))
        assert results.columns == expected
        left = shape.restricted(results.columns)
        assert sorted(row.row for row in left.rows) == ROWS
        assert left.figures
        assert results.expected == len(jobs) == len(swept) * len(expected) * seeds
        for row in swept:
            for column in expected:
                assert [run.seed for run in results.at(row, column)] == list(range(seeds))
        for job in jobs:
            (seed,) = job.run_ids
            assert (job.config.seed, job.config.target.model_seed) == (seed, seed)
            assert (job.config.task.thinning, job.config.task.samples) == (thinning, samples)
        images[experiment] = {sampled_images._identity(job.config, job.config.seed) for job in jobs}
    assert images["edlp_table1"] == images["edlp_figure14"]
    assert len(images["edlp_table1"]) == len(swept) * seeds


@pytest.mark.parametrize(
    ("experiment", "psnr", "measures"), [("edlp_table1", "psnr", 3), (RELEASED, "psnr_given", 4)]
)
def test_every_published_number_that_can_be_compared_has_its_place(
    experiment: str, psnr: str, measures: int
) -> None:
    """The paper does not define its 18 log-likelihoods; its released code does."""
    shape = experiment_shape(experiment)
    published = published_numbers(shape)
    found = [
        published.find("EDLP", metric, column, row)
        for metric in shape.metrics
        for column in shape.columns
        for row in shape.rows
    ]
    assert len(published) == 72
    assert sum(number is not None for number in found) == 6 * 3 * measures
    number = published.find("EDLP", shape.metric(psnr), shape.column("MNIST, noisy"), shape.row("EDMALA"))
    assert number is not None
    assert (number.mean, number.sd) == (15.9938, 0.0727)


HISTOGRAM = """
title: Classes
caption: For the tests.
rows: [{row: A}, {row: B}]
columns: [{label: nine, where: {target.size: 9}}]
metrics: [{metric: class_tv, name: Distance, direction: none}]
figures:
  - name: classes
    across: 2
    legend: []
    panels:
      - {kind: class_histogram, title: A, row: A, columns: [nine], limits: [0, 0.8]}
      - {kind: class_histogram, title: B, row: B, columns: [nine]}
"""


def test_a_histogram_has_a_bar_and_a_mark_for_every_class() -> None:
    shape = table_shape("classes", cast(Any, OmegaConf.create(HISTOGRAM)))
    shares = {0: {"class_2": 0.5, "class_10": 0.5}, 1: {"class_2": 0.7, "class_10": 0.3}}
    runs = []
    for seed, own in shares.items():
        metrics = {**own, "real_2": 0.25, "real_10": 0.75, "class_tv": 0.1, "class_entropy": 1.0}
        folder = cast(Any, SimpleNamespace(path=Path("nowhere")))
        done = {"metrics": metrics, "seconds": 1.0}
        runs.append(Run("A", "nine", seed, str(seed), "done", OmegaConf.create({}), done, folder))
    page: Figure = draw_figure(shape.figures[0], shape, Results(tuple(runs)))
    page.draw_without_rendering()
    first, second = page.axes
    assert [bar.get_height() for bar in cast(Any, first).patches] == pytest.approx([0.6, 0.4])
    assert [label.get_text() for label in first.get_xticklabels()] == ["2", "10"]
    assert first.get_ylim() == (0, 0.8)
    marks = [path.vertices[0][1] for lines in first.collections for path in cast(Any, lines).get_paths()]
    assert {0.25, 0.75} <= set(marks)
    assert "no finished run" in [text.get_text() for text in second.texts]
