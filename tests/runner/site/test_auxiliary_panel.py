"""The panels of theta_a: the measured density and the exact curves, in the figure and on the page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from runner.report.draw_figures import draw_figure
from runner.report.runs.stored_results import Results
from runner.site.content.panels.known import Known
from runner.site.content.panels.panel_chart import KINDS
from runner.site.index.store_index import Index
from tests.support.tables import finished, panel_data, shape_from

BLOCK = """
title: Layers
caption: For the tests.
rows: [{row: A}, {row: B}]
columns: [{label: narrow, where: {sampler.eta: 0.1}}, {label: wide, where: {sampler.eta: 2.0}}]
metrics: [{metric: auxiliary_gap, name: Gap, direction: min}]
figures:
  - name: figure
    legend: []
    panels:
      - {kind: auxiliary, title: of A, row: A, columns: [narrow, wide]}
      - {kind: auxiliary, title: of B, row: B, columns: [narrow, wide]}
"""
LOW, HIGH, BINS = -2.0, 3.0, 10
WIDTH = 0.5
BIT = {"_target_": "targets.synthetic.independent.IndependentBits", "d": 1, "spread": 0.0}


def config(eta: float, **target: Any) -> dict[str, Any]:
    return {
        "target": BIT | target,
        "sampler": {"name": "edmala", "eta": eta},
        "metric": {"auxiliary_density": {"low": LOW, "high": HIGH, "bins": BINS}},
        "data": {"root": None},
    }


def results(**target: Any) -> Results:
    """Two seeds of row A, whose share of bin b is (b + seed) / 60 or half of that; row B did not run."""
    return Results(
        tuple(
            finished("A", column, seed, config(eta, **target), {
                f"auxiliary_bin_{bin}": (bin + seed) / part for bin in range(BINS)
            })
            for column, eta, part in (("narrow", 0.1, 60), ("wide", 2.0, 120))
            for seed in (0, 1)
        )
    )  # fmt: skip


def exact(places: np.ndarray, eta: float) -> np.ndarray:
    return np.asarray((norm.pdf(places, 0, eta**0.5) + norm.pdf(places, 1, eta**0.5)) / 2)


def test_the_figure_has_the_density_over_the_exact_curve_of_each_column() -> None:
    shape = shape_from(BLOCK)
    page = draw_figure(shape.figures[0], shape, results())
    drawn, empty = page.axes[:2]
    assert [text.get_text() for text in empty.texts] == ["no finished run"]
    dots, curve, wide_dots, wide_curve = drawn.lines
    assert np.asarray(dots.get_xdata()) == pytest.approx(np.arange(LOW + WIDTH / 2, HIGH, WIDTH))
    wanted = (np.arange(BINS) + 0.5) / 60 / WIDTH
    assert np.asarray(dots.get_ydata()) == pytest.approx(wanted)
    assert np.asarray(wide_dots.get_ydata()) == pytest.approx(wanted / 2)
    for line, eta in ((curve, 0.1), (wide_curve, 2.0)):
        places, density = np.asarray(line.get_xydata()).T
        assert (places[0], places[-1]) == (LOW, HIGH)
        assert density == pytest.approx(exact(places, eta))
    assert dots.get_color() != wide_dots.get_color()
    legend = drawn.get_legend()
    assert legend is not None
    assert sorted(text.get_text() for text in legend.get_texts()) == ["line: exact", "narrow", "wide"]
    assert drawn.get_xlim() == (LOW, HIGH)


def test_the_page_has_the_points_of_the_picture_in_its_colours() -> None:
    shape, runs = shape_from(BLOCK), results()
    page = draw_figure(shape.figures[0], shape, runs)
    data = panel_data(shape, runs, "narrow", "wide", row="A")
    plot = KINDS["auxiliary"]([data], Known(Index("")))
    assert plot is not None
    for trace, line in zip(plot["traces"], page.axes[0].lines, strict=True):
        assert trace["x"] == pytest.approx(np.asarray(line.get_xdata()))
        assert trace["y"] == pytest.approx(np.asarray(line.get_ydata()))
    points = plot["traces"][0]
    assert points["marker"]["color"] == page.axes[0].lines[0].get_color()
    assert points["customdata"][0].endswith("n = 2")
    assert KINDS["auxiliary"]([panel_data(shape, runs, "narrow", row="B")], Known(Index(""))) is None


def test_where_the_target_cannot_be_listed_there_is_no_curve() -> None:
    shape, runs = shape_from(BLOCK), results(d=40)
    page = draw_figure(shape.figures[0], shape, runs)
    assert len(page.axes[0].lines) == 2
    plot = KINDS["auxiliary"]([panel_data(shape, runs, "narrow", row="A")], Known(Index("")))
    assert plot is not None
    assert [trace["name"] for trace in plot["traces"]] == ["narrow"]
