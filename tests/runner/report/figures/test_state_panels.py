"""Panels of states: what their labels say, and numbers that stay inside their cells."""

from __future__ import annotations

from itertools import pairwise

import pytest
from matplotlib.axes import Axes

from runner.report.draw_figures import draw_figure
from runner.report.figures.labels.cell_numbers import NUMBER
from runner.report.runs.stored_results import Results
from tests.support.tables import finished, shape_from

BERNOULLI = {"_target_": "targets.synthetic.bernoulli4.Bernoulli4"}
RUN = {"data": {"root": None}, "device": "cpu", "dtype": "float64"}

BLOCK = """
title: States
caption: For the tests.
rows: [{row: A}]
columns: [{label: "4", where: {n: 4}}, {label: "5", where: {n: 5}}, {label: "6", where: {n: 6}}]
metrics: [{metric: tv, name: TV, direction: min}]
figures:
  - name: figure
    panels:
      - {kind: state_shares, title: four, columns: ["4"]}
      - {kind: state_shares, title: five, columns: ["5"]}
      - {kind: state_shares, title: six, columns: ["6"]}
      - {kind: intervals, title: TV, metric: tv, columns: ["4"]}
"""


def independent(d: int) -> dict[str, object]:
    path = "targets.synthetic.independent.IndependentBits"
    return {"_target_": path, "d": d, "spread": 1.0, "instance_seed": 0}


@pytest.fixture(scope="module")
def panels() -> dict[str, Axes]:
    targets = {"4": BERNOULLI, "5": independent(5), "6": independent(6)}
    runs = [finished("A", n, 0, RUN | {"target": target}, {"tv": 0.1}) for n, target in targets.items()]
    shape = shape_from(BLOCK)
    page = draw_figure(shape.figures[0], shape, Results(tuple(runs)))
    page.draw_without_rendering()
    return {ax.get_title(): ax for ax in page.axes}


def test_the_label_says_what_is_drawn_and_names_the_frames_that_there_are(panels: dict[str, Axes]) -> None:
    assert panels["four"].get_xlabel() == "last bits; F flat, S sharp\nexact probability"
    assert panels["five"].get_xlabel() == "last bits\nexact probability"


@pytest.mark.parametrize("title", ["four", "five"])
def test_numbers_stay_in_their_cells(title: str, panels: dict[str, Axes]) -> None:
    ax = panels[title]
    numbers = [text for text in ax.texts if text.get_gid() == NUMBER]
    (left, _), (right, _) = ax.transData.transform([(0.0, 0.0), (1.0, 0.0)])
    assert len(numbers) in (16, 32)
    assert all(text.get_visible() for text in numbers)
    assert max(text.get_window_extent().width for text in numbers) < 0.95 * (right - left)


@pytest.mark.parametrize("title", ["four", "five", "six"])
def test_labels_of_columns_do_not_meet(title: str, panels: dict[str, Axes]) -> None:
    boxes = [label.get_window_extent() for label in panels[title].get_xticklabels()]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))


def test_numbers_that_would_be_too_small_give_way_to_the_range_of_colours(panels: dict[str, Axes]) -> None:
    ax = panels["six"]
    assert not any(text.get_visible() for text in ax.texts if text.get_gid() == NUMBER)
    top = ax.images[0].get_clim()[1]
    assert ax.get_xlabel().endswith(f"exact probability\ncolours from 0 to {top:.3g}")
