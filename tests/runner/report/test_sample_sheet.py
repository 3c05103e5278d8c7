"""Last draws of a run: kept beside it, read back, and drawn as a sheet."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from omegaconf import OmegaConf

from metrics import Context, MetricSuite
from metrics.statistics.last_draws import LastDraws
from runner.report.draw_figures import draw_figure, write_figures
from runner.report.runs.gathered import gather
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape
from runner.store.arrays.array_files import (
    DRAWS,
    FRAME,
    IMAGES,
    MOST,
    draws_file,
    images_file,
    load_images,
    sheet,
)
from runner.store.arrays.pictures import stored_pictures
from runner.store.run_store import Store
from samplers.discrete.random_walk import RandomWalk
from targets import RBM, Binary
from tests.support.commands import finished as sampled
from tests.support.tables import finished, shape_from

BLOCK = """
title: Sheets
caption: For the tests.
rows: [{row: A}, {row: B}]
columns:
  - {label: nine, where: {target.size: 9}}
  - {label: sixteen, where: {target.size: 16}}
metrics: [{metric: jump, name: Jump, direction: none}]
figures:
  - name: sheets
    across: 2
    roles: []
    panels:
      - {kind: samples, title: A, row: A, columns: [nine]}
      - {kind: samples, title: B, row: B, columns: [nine]}
      - {kind: samples, title: A, row: A, columns: [sixteen]}
      - {kind: samples, title: B, row: B, columns: [sixteen]}
"""


def suite_with(theta: torch.Tensor) -> MetricSuite:
    """A suite whose only statistic holds `theta`, ``(seeds, chains, d)``."""
    target = RBM(theta.shape[-1], 2).float()
    seeds, chains, _ = theta.shape
    context = Context(target, RandomWalk(), seeds=seeds, chains=chains, device=torch.device("cpu"))
    context.statistic(LastDraws).update(1, theta, cast(Any, None))
    return cast(MetricSuite, SimpleNamespace(context=context))


def images(seeds: int, chains: int, size: int) -> torch.Tensor:
    return (torch.rand(seeds, chains, size, generator=torch.Generator().manual_seed(size)) < 0.3).float()


@pytest.mark.parametrize(("shape", "side"), [((2, 6), (2, 6)), (None, (3, 3))])
def test_last_draws_become_images(
    shape: tuple[int, int] | None, side: tuple[int, int], tmp_path: Path
) -> None:
    theta = images(2, 70, side[0] * side[1])
    kept = draws_file(suite_with(theta), 1, shape)
    assert kept is not None
    assert kept == draws_file(suite_with(theta), 1, shape)
    (tmp_path / DRAWS).write_bytes(kept)
    found = load_images(tmp_path)
    assert found is not None
    np.testing.assert_array_equal(found, theta[1, :MOST].reshape(MOST, *side).numpy())


def test_what_are_no_images_is_not_kept(tmp_path: Path) -> None:
    assert draws_file(suite_with(images(1, 3, 10)), 0) is None
    assert draws_file(suite_with(images(1, 3, 9)), 0, (2, 4)) is None
    others = suite_with(images(1, 3, 9))
    others.context.statistics.clear()
    assert draws_file(others, 0) is None
    assert isinstance(RBM(9, 2).space, Binary)
    assert load_images(tmp_path) is None
    (tmp_path / DRAWS).write_bytes(b"PK no archive")
    assert load_images(tmp_path) is None


def test_a_sheet_frames_every_image_in_white() -> None:
    page = sheet(np.ones((5, 4, 3), dtype=np.uint8), across=3)
    assert page.shape == (3 * (4 + FRAME) + FRAME, 3 * (3 + FRAME) + FRAME)
    assert page.sum() == 5 * 4 * 3
    for line in range(3):
        for place in range(3):
            top, left = line * (4 + FRAME), place * (3 + FRAME)
            inside = page[top + FRAME : top + FRAME + 4, left + FRAME : left + FRAME + 3]
            assert inside.mean() == float(3 * line + place < 5)
            assert not page[top : top + FRAME].any()
            assert not page[:, left : left + FRAME].any()
    assert not page[-FRAME:].any()
    assert not page[:, -FRAME:].any()


def test_an_image_keeps_its_place_and_its_orientation() -> None:
    one = np.arange(2 * 4 * 3).reshape(2, 4, 3)
    page = sheet(one, across=2)
    np.testing.assert_array_equal(page[FRAME : FRAME + 4, 2 * FRAME + 3 : 2 * FRAME + 6], one[1])


def results(tmp_path: Path, sizes: tuple[int, ...]) -> Results:
    """Runs of both rows; of B only the second seed kept its draws."""
    runs = []
    for size, row, seed in itertools.product(sizes, "AB", (0, 1)):
        folder = tmp_path / f"{row}-{size}-{seed}"
        folder.mkdir()
        if row == "A" or seed == 1:
            kept = draws_file(suite_with(images(1, 64, size)), 0)
            assert kept is not None
            (folder / DRAWS).write_bytes(kept)
        label = {9: "nine", 16: "sixteen"}[size]
        runs.append(finished(row, label, seed, {"target": {"size": size}}, {}, folder))
    return Results(tuple(runs))


@pytest.fixture
def shape() -> TableShape:
    return shape_from(BLOCK)


def test_a_figure_of_sheets(shape: TableShape, tmp_path: Path) -> None:
    page: Figure = draw_figure(shape.figures[0], shape, results(tmp_path, (9, 16)))
    titles = [ax.get_title() for ax in page.axes]
    assert titles == ["A", "B", "A", "B"]
    for ax, size in zip(page.axes, (3, 3, 4, 4), strict=True):
        (picture,) = ax.images
        expected = images(1, 64, size * size)[0].reshape(64, size, size).numpy()
        np.testing.assert_array_equal(picture.get_array(), sheet(expected))


def test_images_of_the_data_stand_beside_the_draws(tmp_path: Path) -> None:
    found = results(tmp_path, (9,))
    data = images(1, 12, 9)[0].reshape(12, 3, 3).numpy()
    for seed in (0, 1):
        (tmp_path / f"A-9-{seed}" / IMAGES).write_bytes(images_file(data > 0.5))
    block = BLOCK.replace("kind: samples, title: A", "kind: images, title: data")
    shape = shape_from(block).restricted(found.columns)
    page = draw_figure(shape.figures[0], shape, found)
    (picture,) = page.axes[0].images
    np.testing.assert_array_equal(picture.get_array(), sheet(data))
    kept = stored_pictures(tmp_path / "A-9-0")
    assert set(kept) == {"draws", "images"}
    np.testing.assert_array_equal(kept["images"], data)
    assert stored_pictures(tmp_path) == {}


def test_a_row_without_draws_says_so(shape: TableShape, tmp_path: Path) -> None:
    found = results(tmp_path, (9,))
    (tmp_path / "B-9-1" / DRAWS).unlink()
    page = draw_figure(shape.figures[0], shape, found)
    assert [text.get_text() for text in page.axes[1].texts] == ["no stored draws"]
    assert [text.get_text() for text in page.axes[2].texts] == ["no finished run"]


def test_rows_without_a_job_leave_page_and_figures(shape: TableShape, tmp_path: Path) -> None:
    found = results(tmp_path, (9, 16))
    only = replace(found, runs=tuple(run for run in found.runs if run.row == "A"))
    assert (found.rows, only.rows) == ({"A", "B"}, {"A"})
    left = shape.restricted(only.columns, only.rows)
    assert [row.row for row in left.rows] == ["A"]
    assert {panel.row for panel in left.figures[0].panels} == {"A"}
    assert [row.row for row in shape.restricted(only.columns).rows] == ["A", "B"]


def test_comparisons_and_fits_of_rows_without_a_job_are_left_out() -> None:
    shape = shape_from("""
    title: T
    caption: C
    rows: [{row: A}, {row: B}, {row: C}]
    columns: [{label: one, where: {}}]
    metrics: [{metric: kl, name: KL, direction: min}]
    comparisons: [{metric: kl, rows: [A, B]}, {metric: kl, rows: [B, C]}]
    growths:
      - {metric: kl, x: target.d, symbol: D, rows: [A, C]}
      - {metric: kl, x: target.d, symbol: D, exponential: true, rows: [C]}
    """)
    left = shape.restricted(["one"], ["A", "B"])
    assert [pair.rows for pair in left.comparisons] == [["A", "B"]]
    assert [growth.rows for growth in left.growths] == [["A"]]


def test_columns_without_a_job_leave_page_and_figures(shape: TableShape, tmp_path: Path) -> None:
    found = results(tmp_path, (16,))
    assert found.columns == ["sixteen"]
    left = shape.restricted(found.columns)
    assert [column.label for column in left.columns] == ["sixteen"]
    assert [panel.columns for panel in left.figures[0].panels] == [["sixteen"], ["sixteen"]]
    assert shape.restricted([]).figures == []
    written = write_figures(left, found, tmp_path)
    assert [path.name for path in written] == ["sheets.png", "sheets.pdf"]
    first = [path.read_bytes() for path in written]
    assert first == [path.read_bytes() for path in write_figures(left, found, tmp_path)]


def test_jobs_need_not_fill_every_column(shape: TableShape, tmp_path: Path) -> None:
    config = OmegaConf.create({"target": {"size": 9}})
    job = SimpleNamespace(row="A", config=config, run_ids={0: "a"})
    assert gather("sheets", shape, [job], Store(tmp_path)).columns == ["nine"]


@pytest.mark.parametrize("shape", [(2, 8), (2, 5)])
def test_draws_of_a_sampled_model_have_the_shape_of_its_images(
    shape: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many pixels as a square has were drawn as one, others not at all."""
    monkeypatch.chdir(tmp_path)
    learned = np.random.default_rng(0).integers(0, 2, (30, *shape), dtype=np.uint8)
    np.savez("own.npz", train=learned, test=learned[:5])
    few = ("target.n_hidden=2", "target.training.iterations=3", "target.training.batch=10")
    run = (
        "scale=smoke",
        "target=rbm",
        "target.dataset=own.npz",
        *few,
        "sampler=rbm_gibbs",
        "task.steps=4",
        "target.ground_truth.steps=50",
    )
    sampled(tmp_path / "out", *run, "metric=[log_mmd]", "task.chains=3")
    (draws,) = tmp_path.glob("out/runs/*/draws.npz")
    kept = load_images(draws.parent)
    assert kept is not None
    assert kept.shape == (3, *shape)
