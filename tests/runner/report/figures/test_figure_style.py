"""Figures: one look for each sampler, published values, units, arrows, and intervals within bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.colors import rgb_to_hsv, to_rgb

from metrics.inference.few_seeds import interval
from runner.problem.metric_directions import metric_class
from runner.report.draw_figures import draw_figure, write_figures
from runner.report.figures.labels.broken_lines import break_line
from runner.report.figures.labels.dollar_signs import show_dollars
from runner.report.figures.labels.fitting import fit_labels
from runner.report.figures.labels.tick_labels import label_ticks, label_values
from runner.report.figures.metric_axis import Quantity, metric_label, quantities, quantity_of
from runner.report.figures.reference_lines import mark_reference, name_at_ends
from runner.report.figures.sampler_looks import COLOURS, LOOKS, PURPLE, look_of
from runner.report.figures.style import FLOOR, GREY, RC, row_styles
from runner.report.panels.intervals import draw_intervals
from runner.report.panels.lines import FEW, draw_against_columns, draw_against_steps
from runner.report.runs.experiment_run import Run
from runner.report.runs.stored_results import Results
from runner.report.table_shape import Direction, MetricShape
from tests.support.tables import finished, panel_data, shape_from, shape_of

ROOT = Path(__file__).parents[4]


def table(*rows: str, metric: str = "acceptance", **more: Any) -> Any:
    block = {
        "title": "t",
        "caption": "c",
        "rows": [yaml.safe_load(row) for row in rows],
        "columns": [{"label": "a", "where": {}}],
        "metrics": [{"metric": metric, "name": metric, "direction": "none"}],
        **more,
    }
    return shape_from(yaml.safe_dump(block))


def run(row: str, sampler: str, seed: int = 0, steps: int = 9, values: tuple[float, ...] = (0.9, 0.4)) -> Run:
    metric = "acceptance"
    points = [(step, step, 0.1 * step, metric, values[seed]) for step in range(1, steps + 1)]
    curve = pd.DataFrame(points, columns=["step", "evaluations", "seconds", "metric", "value"])
    config = {"scale": {"name": "quick"}, "sampler": {"name": sampler}}
    return finished(row, "a", seed, config, {metric: values[seed]}, curve=curve)


def known(row: str, metric: str) -> Run:
    """A run of a row that has this metric alone."""
    return finished(
        row, "a", 0, {"scale": {"name": "quick"}, "sampler": {"name": "exact_draws"}}, {metric: 0.7}
    )


def styles_of(*rows: tuple[str, str], draws: tuple[str, ...] = ()) -> dict[str, Any]:
    blocks = [f"{{row: '{name}', role: {'draws' if name in draws else 'sampler'}}}" for name, _ in rows]
    return row_styles(table(*blocks), Results(tuple(run(name, sampler) for name, sampler in rows)))


def test_a_sampler_looks_the_same_whatever_the_order_of_rows() -> None:
    rows = [("D", "dmala"), ("A", "acs"), ("P", "pt_dmala"), ("mine", "my_sampler")]
    first, second = styles_of(*rows), styles_of(*reversed(rows))
    assert first == second
    assert (first["A"].colour, first["A"].marker) == LOOKS["acs"]
    assert styles_of(("mine", "my_sampler"))["mine"].colour == look_of("my_sampler")[0]


@pytest.mark.parametrize(("method", "look"), [("pcd", "acs"), ("kernel", "acs"), ("reld", "reld")])
def test_a_method_stands_for_a_sampler_only_where_there_is_none(method: str, look: str) -> None:
    config = {"scale": {"name": "quick"}, "sampler": {"name": "acs"}, "task": {"method": method}}
    runs = (finished("A", "a", 0, config, {"acceptance": 0.5}),)
    assert row_styles(table("{row: A}"), Results(runs))["A"].colour == LOOKS[look][0]


def test_a_long_label_keeps_within_its_axis() -> None:
    with pyplot.rc_context(RC):
        page, (left, right) = pyplot.subplots(1, 2, figsize=(5, 2.5), layout="constrained")
    for ax in (left, right):
        ax.set_xlabel("Mean squared error of the second half (squared pixel value)\n← better")
        ax.set_ylabel("Log-likelihood of the test images (nats)")
    fit_labels(page)
    page.draw_without_rendering()
    for ax in (left, right):
        room = ax.get_window_extent()
        assert ax.xaxis.label.get_window_extent().width <= room.width
        assert ax.yaxis.label.get_window_extent().height <= room.height
        assert ax.xaxis.label.get_text().replace("\n", " ").endswith("(squared pixel value) ← better")
    pyplot.close(page)


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0011, 0.0034), (0.013, 0.29), (90.0, 1200.0), (0.0678, 0.1005), (1.2, 1.9), (0.81, 1.01)],
)
def test_labels_of_a_narrow_logarithmic_axis_do_not_meet(low: float, high: float) -> None:
    with pyplot.rc_context(RC):
        page, ax = pyplot.subplots(figsize=(2.2, 2), layout="constrained")
    ax.set_xscale("log")
    ax.set_xlim(low, high)
    label_ticks(ax)
    fit_labels(page)
    page.draw_without_rendering()
    labels = [label for label in ax.get_xticklabels() if low <= label.get_position()[0] <= high]
    boxes = [label.get_window_extent() for label in labels]
    assert len(labels) >= 2
    assert all(right.x0 > left.x1 + 2 for left, right in pairwise(boxes))
    pyplot.close(page)


@pytest.mark.parametrize(
    ("places", "kept"), [(range(100, 500, 20), 10), ([1, 2, 3, 5, 8, 250, 480], 3), ([0.5, 1.0], 2)]
)
def test_labels_of_set_ticks_of_a_linear_axis_do_not_meet(places: Sequence[float], kept: int) -> None:
    """They read 100120140160."""
    with pyplot.rc_context(RC):
        page, ax = pyplot.subplots(figsize=(4.5, 2), layout="constrained")
    ax.plot(places, places)
    ax.set_xticks(places)
    fit_labels(page)
    page.draw_without_rendering()
    labels = ax.get_xticklabels()
    boxes = [label.get_window_extent() for label in labels]
    assert len(labels) == kept
    assert [float(label.get_text()) for label in labels] == [label.get_position()[0] for label in labels]
    assert all(right.x0 > left.x1 + 2 for left, right in pairwise(boxes))
    pyplot.close(page)


def test_names_of_columns_are_all_there(ax: Axes) -> None:
    ax.set_xlim(0, 60)
    ax.set_xticks(range(60), [f"class {place}" for place in range(60)])
    fit_labels(ax.figure)
    assert len(ax.get_xticklabels()) == 60


@pytest.mark.parametrize(
    ("title", "broken"), [("bernoulli4, noise=0.333, burn_in=5, value=0.001", True), ("a", False)]
)
def test_titles_neither_meet_nor_leave_the_page(title: str, broken: bool) -> None:
    with pyplot.rc_context(RC):
        page, axes = pyplot.subplots(1, 4, figsize=(9, 2), layout="constrained")
    for ax in axes:
        ax.set_title(title)
    fit_labels(page)
    page.draw_without_rendering()
    boxes = [ax.title.get_window_extent() for ax in axes]
    assert ["\n" in ax.get_title() for ax in axes] == [broken] * 4
    assert axes[0].title.get_text().replace("\n", " ") == title
    assert all(right.x0 > left.x1 for left, right in pairwise(boxes))
    assert boxes[0].x0 >= 0
    assert boxes[-1].x1 <= page.bbox.width
    assert max(box.y1 for box in boxes) <= page.bbox.height
    pyplot.close(page)


@pytest.mark.parametrize("text", ["b $ $", "from $5 to $6", "a$_$"])
def test_dollar_signs_are_no_formulas(text: str) -> None:
    """An odd pair stopped the table; an even one was set as a formula."""
    with pyplot.rc_context(RC):
        page, ax = pyplot.subplots(figsize=(4.5, 2), layout="constrained")
    ax.plot([1, 100], [0, 1], label=text)
    ax.set(xscale="log", title=text, xlabel=text)
    ax.set_yticks([0, 1], [text, "b"])
    page.legend()
    show_dollars(page)
    fit_labels(page)
    page.draw_without_rendering()
    shown = [ax.title, ax.xaxis.label, ax.get_yticklabels()[0], *page.legends[0].get_texts()]
    assert [each.get_text() for each in shown] == [text] * 4
    assert not any(each.get_parse_math() for each in shown)
    assert ax.get_xticklabels()[0].get_parse_math()
    pyplot.close(page)


def test_a_long_title_that_meets_nothing_stays_whole() -> None:
    with pyplot.rc_context(RC):
        page, (left, middle, right) = pyplot.subplots(1, 3, figsize=(6, 2), layout="constrained")
    left.set_title("a")
    middle.set_title("a title wider than its own panel is")
    right.set_title("b")
    fit_labels(page)
    assert "\n" not in middle.get_title()
    assert middle.title.get_window_extent().width > middle.get_window_extent().width
    pyplot.close(page)


def test_ticks_of_a_very_narrow_logarithmic_axis_differ(ax: Axes) -> None:
    """Three of them read 123456."""
    ax.set_xscale("log")
    ax.set_xlim(123456.0, 123456.4)
    label_ticks(ax)
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert len(labels) == len(set(labels)) >= 3
    assert "123456.2" in labels
    label_values(ax, [123456.0, 123456.04])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["123456", "123456.04"]
    label_values(ax, [0.5, 4.0])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.5", "4"]


def test_panels_share_an_axis_only_where_it_means_the_same() -> None:
    """Curves beside intervals had the axis that names the rows, and lay at the height of one of them."""
    interval = "{kind: intervals, title: i, metric: acceptance, columns: [a]}"
    curve = "{kind: against_steps, title: c, metric: acceptance, columns: [a]}"
    for panels, shared in ((f"{interval}, {interval}", True), (f"{interval}, {curve}", False)):
        shape = table("{row: D}", figures=yaml.safe_load(f"[{{name: f, panels: [{panels}]}}]"))
        page = draw_figure(shape.figures[0], shape, Results((run("D", "dmala"), run("D", "dmala", 1))))
        left, right = page.axes[:2]
        assert left.get_shared_y_axes().joined(left, right) is shared
        assert [label.get_text() for label in left.get_yticklabels()] == ["D"]
        assert bool(right.get_ylabel()) is not shared
    low, high = right.get_ylim()
    assert low < 0.4 < 0.9 < high


def with_energies(**energies: float) -> Results:
    """A run of each row that ends at 1 after three steps at the energy that the table has."""
    config, runs = {"scale": {"name": "quick"}, "sampler": {"name": "dmala"}, "n": 4}, []
    for row, energy in energies.items():
        way = {"metric": "energy", "value": [energy] * 3 + [1.0] * 3}
        curve = pd.DataFrame({"step": [*range(6)], "evaluations": 1.0, "seconds": 0.1, **way})
        runs.append(finished(row, "a", 0, config, {"energy": energy}, curve=curve))
    return Results(tuple(runs))


def test_what_a_logarithmic_axis_has_no_place_for_is_named(ax: Axes) -> None:
    """It was called without a value or a finished run, or a line went down to it beyond the panel."""
    rows = ("{row: A}", "{row: B}", "{row: C}", "{row: draws, role: draws}")
    shape, results = table(*rows, metric="energy"), with_energies(A=-1.0, B=2.0, draws=0.0)
    draw_intervals(ax, panel_data(shape, results, "a", metric="energy", log_x=True))
    assert [text.get_text() for text in ax.texts] == ["mean of 0 or less", "not run"]
    assert ax.get_xlabel().endswith("0 or less, not drawn: draws")
    ax.clear()
    draw_against_columns(ax, panel_data(shape, results, "a", metric="energy", x="n", log=True))
    assert [list(bars.lines[0].get_ydata()) for bars in ax.containers] == [[2.0]]
    assert ax.get_xlabel() == "n\n0 or less, not drawn: A, draws"
    ax.clear()
    draw_against_steps(ax, panel_data(shape, results, "a", metric="energy", log=True, log_x=False))
    ways = [line.get_ydata() for line in ax.lines if len(line.get_ydata()) == 6]
    assert [[bool(math.isfinite(value)) for value in way] for way in ways] == [
        [value] * 3 + [True] * 3 for value in (False, True, False)
    ]
    assert ax.get_xlabel().endswith("0 or less, not drawn: A, draws")


ONLY_D = [
    {"metric": "acceptance", "name": "acceptance", "direction": "none", "rows": ["D", "exact value"]},
    {"metric": "energy", "name": "energy", "direction": "none"},
]


@pytest.mark.parametrize("kind", ["intervals", "repeats", "against_steps"])
def test_a_metric_is_drawn_in_the_rows_alone_that_show_it(kind: str) -> None:
    panels = f"{{kind: {kind}, title: t, metric: acceptance, columns: [a]}}"
    other = "{kind: intervals, title: t, metric: energy, columns: [a]}"
    names = []
    for shown in (panels, f"{panels}, {other}"):
        shape = table(
            "{row: A}", "{row: D}", "{row: exact value, role: draws, exact: [energy]}", metrics=ONLY_D,
            figures=yaml.safe_load(f"[{{name: f, panels: [{shown}]}}]"),
        )  # fmt: skip
        runs = [run(row, sampler, seed) for row, sampler in (("A", "acs"), ("D", "dmala")) for seed in (0, 1)]
        runs.append(known("exact value", "energy"))
        page = draw_figure(shape.figures[0], shape, Results(tuple(runs)))
        names.append([text.get_text() for text in page.legends[0].get_texts()])
        first, colours = page.axes[0], row_styles(shape, Results(tuple(runs)))
        if kind != "against_steps":
            assert [text.get_text() for text in first.get_yticklabels()] == ["D"]
        assert colours["A"].colour not in {line.get_color() for line in first.lines}
    assert names == [["D"], ["A", "D", "exact value"]]
    assert [text.get_text() for text in page.axes[1].get_yticklabels()] == ["A", "D"]


def test_the_legend_names_exact_values_only_where_a_panel_has_them() -> None:
    names = []
    for exact in ("acceptance", "energy"):
        panels = "[{kind: intervals, title: t, metric: acceptance, columns: [a]}]"
        shape = table(
            "{row: D}",
            f"{{row: exact value, role: draws, exact: [{exact}]}}",
            figures=yaml.safe_load(f"[{{name: f, panels: {panels}}}]"),
        )
        results = Results((run("D", "dmala"), known("exact value", exact)))
        page = draw_figure(shape.figures[0], shape, results)
        names.append([text.get_text() for text in page.legends[0].get_texts()])
    assert names == [["D", "exact value"], ["D"]]


def test_the_legend_names_no_reference_without_a_value() -> None:
    """`field_ess` named exact draws, which have none of its metrics."""
    panels = "[{kind: intervals, title: t, metric: acceptance, columns: [a]}]"
    shape = table(
        "{row: D}", "{row: draws, role: draws}", figures=yaml.safe_load(f"[{{name: f, panels: {panels}}}]")
    )
    for metric, names in (("energy", ["D"]), ("acceptance", ["D", "draws"])):
        page = draw_figure(shape.figures[0], shape, Results((run("D", "dmala"), known("draws", metric))))
        assert [text.get_text() for text in page.legends[0].get_texts()] == names


@pytest.mark.parametrize("kind", ["intervals", "against_steps"])
def test_the_legend_names_no_row_whose_runs_are_missing(kind: str) -> None:
    """Of a figure whose sweep is under way, or was cut off."""
    panels = f"[{{kind: {kind}, title: t, metric: acceptance, columns: [a]}}]"
    shape = table("{row: P}", "{row: Q}", figures=yaml.safe_load(f"[{{name: f, panels: {panels}}}]"))
    done = [run("P", "pt_dmala", seed) for seed in (0, 1)]
    missing = replace(run("Q", "pt_gwg"), summary=None, status="missing")
    page = draw_figure(shape.figures[0], shape, Results((*done, missing)))
    assert [text.get_text() for text in page.legends[0].get_texts()] == ["P"]


@pytest.mark.parametrize(("kind", "lines"), [("intervals", ["-", "-"]), ("against_steps", ["-", "--"])])
def test_the_legend_has_dashes_only_where_lines_join_means(kind: str, lines: list[str]) -> None:
    """Bars of intervals are solid in all rows."""
    panels = f"[{{kind: {kind}, title: t, metric: acceptance, columns: [a]}}]"
    shape = table("{row: P}", "{row: Q}", figures=yaml.safe_load(f"[{{name: f, panels: {panels}}}]"))
    runs = (run(row, name, seed) for row, name in (("P", "pt_dmala"), ("Q", "pt_gwg")) for seed in (0, 1))
    page = draw_figure(shape.figures[0], shape, Results(tuple(runs)))
    assert [line.get_linestyle() for line in page.legends[0].get_lines()] == lines


def test_rows_of_one_sampler_are_shades_of_its_colour_and_differ_in_marker_and_line() -> None:
    """Ladders of 16 and of 22 replicas had the same purple, and markers of hair."""
    found = styles_of(("D", "dmala"), ("D, 1", "dmala"), ("D, 2", "dmala"), ("A", "acs"))
    own = [found[name] for name in ("D", "D, 1", "D, 2")]
    assert own[0].colour == LOOKS["dmala"][0]
    hues = np.array([rgb_to_hsv(to_rgb(style.colour)) for style in own])
    assert np.ptp(hues[:, 0]) < 0.01
    assert (np.diff(hues[:, 2]) < -0.15).all()
    assert len({style.marker for style in own}) == len({style.line for style in own}) == 3
    assert (own[0].marker, own[0].line) == (LOOKS["dmala"][1], "-")


def test_rows_of_one_colour_have_lines_and_markers_of_their_own() -> None:
    """Tempered samplers are all purple."""
    rows = [(name, name.lower().replace("-", "_")) for name in ("D", "PT-DMALA", "PT-PAS", "PT-GWG")]
    found = styles_of(*rows, ("PT-DMALA, 4", "pt_dmala"), ("PT-PAS, 4", "pt_pas"))
    purple = [style for name, style in found.items() if name.startswith("PT-")]
    assert (
        len(purple) == len({style.marker for style in purple}) == len({style.line for style in purple}) == 5
    )
    first = found["PT-DMALA"]
    assert (first.marker, first.line) == (LOOKS["pt_dmala"][1], "-")
    assert styles_of(("PT-PAS", "pt_pas"))["PT-PAS"].line == "-"
    assert found["PT-PAS"].marker == LOOKS["pt_pas"][1]


def test_only_references_are_grey_and_each_has_a_line_of_its_own() -> None:
    found = styles_of(("D", "dmala"), ("E", "exact_draws"), ("U", "uniform_draws"), draws=("E", "U"))
    assert found["D"].colour != GREY
    assert {found["E"].colour, found["U"].colour} == {GREY}
    assert len({found["E"].line, found["U"].line, FLOOR.line}) == 3
    assert found["U"] == styles_of(("U", "uniform_draws"), draws=("U",))["U"]


def test_samplers_of_the_users_own_do_not_collide_in_a_figure() -> None:
    rows = [(f"mine {n}", f"mine_{n}") for n in range(len(COLOURS) - 2)] + [("D", "dmala"), ("A", "acs")]
    found = styles_of(*rows)
    assert len({style.colour for style in found.values()}) == len(rows)
    assert (found["D"].colour, found["D"].marker) == LOOKS["dmala"]


def test_a_sampler_of_the_users_own_is_purple_in_a_ladder_of_replicas() -> None:
    rows = [(name, name) for name in ("mine", "pt_mine", "pt_dmala", "pt_yours")]
    found = styles_of(*rows)
    assert [found[name].colour == PURPLE for name, _ in rows] == [False, True, True, True]
    assert len({style.marker for name, style in found.items() if name != "mine"}) == 3


def test_every_sampler_of_the_project_has_a_look_of_its_own() -> None:
    names = {path.stem for path in (ROOT / "conf/sampler").glob("*.yaml")}
    assert names - set(LOOKS) == {"exact_draws", "ground_truth_draws", "uniform_draws"}
    assert len(set(LOOKS.values())) == len(LOOKS)


def test_samplers_of_an_experiment_have_different_colours() -> None:
    for path in (ROOT / "conf/experiment").glob("*.yaml"):
        block = yaml.load(path.read_text(), yaml.CSafeLoader)
        roles = {row["row"]: row.get("role") for row in block["table"]["rows"]}
        swept = block.get("sweep", {}).get("rows", [])
        rows = [row for row in swept if roles.get(row["row"]) != "draws"]
        names = {row.get("task.method") or row.get("sampler") for row in rows} & set(LOOKS)
        assert len({LOOKS[name] for name in names}) == len(names), path.stem
        alone = [
            LOOKS[name][0] for name in names if not name.startswith("pt_")
        ]  # all tempered ones are purple
        assert len(set(alone)) == min(len(alone), len(COLOURS) - 1), path.stem


def bands(ax: Axes) -> list[FillBetweenPolyCollection]:
    return [found for found in ax.collections if isinstance(found, FillBetweenPolyCollection)]


def test_a_band_stays_within_the_metric_and_behind_the_lines(ax: Axes) -> None:
    results = Results(tuple(run("D", "dmala", seed) for seed in (0, 1)))
    draw_against_steps(ax, panel_data(table("{row: D}"), results, "a", metric="acceptance"))
    (band,) = bands(ax)
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (0.0, 1.0)
    assert band.get_alpha() <= 0.2
    assert band.get_zorder() < min(line.get_zorder() for line in ax.lines)


def test_few_points_are_drawn_as_points_beside_each_other(ax: Axes) -> None:
    rows = {"D": "dmala", "A": "acs"}
    results = Results(tuple(run(row, name, seed, FEW) for row, name in rows.items() for seed in (0, 1)))
    shape = table("{row: D}", "{row: A}")
    draw_against_steps(ax, panel_data(shape, results, "a", metric="acceptance", log_x=False))
    assert bands(ax) == []
    first, second = (bars.lines[0] for bars in ax.containers)
    assert first.get_linestyle() == second.get_linestyle() == "None"
    assert (first.get_marker(), second.get_marker()) == (LOOKS["dmala"][1], LOOKS["acs"][1])
    assert not set(first.get_xdata()) & set(second.get_xdata())


def label_of(metric: MetricShape) -> str:
    return metric_label(metric, quantity_of(metric.metric))


def test_axes_name_unit_and_better_direction() -> None:
    assert label_of(MetricShape("kl", "KL", Direction.min)) == "KL (nats)\n← better"
    assert label_of(MetricShape("log_likelihood", "L (nats)", Direction.max)) == "L (nats)\nbetter →"
    assert label_of(MetricShape("acceptance", "A", Direction.none)) == "A (probability)"
    assert label_of(MetricShape("log_mmd_now", "M (nats)", Direction.none)) == "M (nats)\n← better"


def test_bounds_of_metrics() -> None:
    assert quantity_of("acceptance").errors(0.9, 0.3) == (pytest.approx(0.3), pytest.approx(0.1))
    assert quantity_of("mean_norm_log2").errors(1.0, 2.0) == (1.0, 2.0)
    assert quantity_of("log_mmd").errors(-1.0, 2.0) == (2.0, 2.0)
    assert (quantity_of("swap_rate_min").low, quantity_of("swap_rate_min").high) == (0.0, 1.0)
    # What may be below zero or above one although its metric cannot.
    for name in ("mmd_u", "specific_heat_deviation", "magnetisation_deviation", "overlap_binder"):
        assert (quantity_of(name).low, quantity_of(name).high) == (-math.inf, math.inf), name
    assert quantity_of("mmd_u").errors(-2.2e-5, 1.57e-4) == (pytest.approx(1.57e-4), pytest.approx(1.57e-4))
    assert quantity_of("loss").low == -math.inf


def test_a_standard_deviation_is_bounded_by_zero_alone() -> None:
    """That of a metric which is at most 0, such as minus a squared error, is above it."""
    assert quantity_of("train_minus_mse").errors(-0.1, 0.2) == (pytest.approx(0.2), pytest.approx(0.1))
    assert quantity_of("train_minus_mse_sd").errors(0.02, 0.001) == (
        pytest.approx(0.001),
        pytest.approx(0.001),
    )
    assert quantity_of("log_z_se").errors(0.1, 0.2) == (pytest.approx(0.1), pytest.approx(0.2))
    for name, quantity in quantities().items():
        assert quantity.unit, name
        assert quantity.unit != "probability" or (quantity.low, quantity.high) == (0.0, 1.0), name


def test_quantities_are_what_the_classes_of_the_metrics_say() -> None:
    nodes = {
        name: found
        for path in ROOT.glob("conf/metric/*.yaml")
        for name, found in yaml.safe_load(path.read_text()).items()
        if isinstance(found, dict) and "_target_" in found
    }
    assert nodes
    for name, found in nodes.items():
        cls = metric_class(name, found["_target_"])
        assert cls is not None
        assert quantities()[name] == Quantity(cls.unit, *cls.bounds, Direction(cls.direction or "none"))


OWN = """
from metrics.metric import Metric

ENDS = (-1.0, 0.5)

class Slope(Metric):
    unit = "share per step"
    bounds = (-1.0, 1.0)
    direction = "max"

class Half(Slope):
    unit = "half a share"
    bounds = ENDS
    direction = None

def made(context) -> Slope:
    return Slope(context)
"""


def test_figures_read_bounds_unit_and_direction_of_own_metrics(
    ax: Axes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`tv_slope` is no value of `tv`, whose bounds are 0 and 1. A class of ours may have moved since."""
    (tmp_path / "own_slope.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    metric = {
        "tv": {"_target_": "metrics.elsewhere.TV"},
        "tv_slope": {"_target_": "own_slope.Slope"},
        "half": {"_target_": "own_slope.Half"},
        "made": {"_target_": "own_slope.made"},
        "gone": {"_target_": "nowhere.Gone"},
        "ours": {"_target_": "metrics.discrepancy.tv.TV"},
        "lost": {"_target_": "metrics.elsewhere.Lost"},
        "_optional_": None,
    }
    values = (0.04, 0.05, -0.08)
    results = Results(
        tuple(
            finished("D", "a", seed, {"sampler": {"name": "dmala"}, "metric": metric}, {"tv_slope": value})
            for seed, value in enumerate(values)
        )
    )
    assert results.own_metrics == {
        name: metric[name]["_target_"] for name in ("tv_slope", "half", "made", "gone", "ours", "lost")
    }
    slope = Quantity("share per step", -1.0, 1.0, Direction.max)
    for name in ("tv_slope", "made"):
        assert quantity_of(name, results.own_metrics) == slope
    assert quantity_of("tv_slope_late", results.own_metrics) == Quantity("", -1.0, 1.0)
    assert quantity_of("half", results.own_metrics) == Quantity("half a share", -1.0, 0.5)
    for name in ("gone", "lost"):
        assert quantity_of(name, results.own_metrics) == Quantity("")
    for name in ("tv", "ours"):
        assert quantity_of(name, results.own_metrics) == quantity_of("tv")

    shape = table("{row: D}", metric="tv_slope")
    draw_intervals(ax, panel_data(shape, results, "a", metric="tv_slope"))
    span = interval(values)
    assert span is not None
    ends = [float(end) for end, _ in ax.collections[-1].get_offsets().tolist()]
    assert ends == pytest.approx([span.lo, span.hi])
    assert ax.get_xlabel() == "tv_slope (share per step)\nbetter →"


def test_published_values_are_hollow_in_the_colour_of_their_row() -> None:
    shape = shape_of("pt_table3").restricted(["Static MNIST"])
    samplers = {
        row["row"]: row["sampler"]
        for row in yaml.safe_load((ROOT / "conf/experiment/pt_table3.yaml").read_text())["sweep"]["rows"]
    }
    runs = [
        finished(
            row.row,
            "Static MNIST",
            seed,
            {"scale": {"name": "quick"}, "sampler": {"name": samplers[row.row]}},
            {"log_likelihood": -150.0 - seed},
        )
        for row in shape.rows
        if row.published
        for seed in (0, 1)
    ]
    page = draw_figure(shape.figures[0], shape, Results(tuple(runs)))
    marks = [line for line in page.axes[0].lines if str(line.get_gid()) == "published v2"]
    own = [line for line in marks if line.get_markeredgecolor() == LOOKS["dmala"][0]]
    assert [(line.get_markerfacecolor(), line.get_xdata()[0]) for line in own] == [("none", -80.031)]
    assert len(marks) == 3
    legend = [text.get_text() for text in page.legends[0].get_texts()]
    assert {text for text in legend if "published" in text} == {"published, v2", "published, v1"}
    pyplot.close(page)


def test_rows_without_jobs_are_not_drawn() -> None:
    """A selection of rows has a figure of its own rows, also where others are published."""
    shape = shape_of("pt_table3").restricted(["Static MNIST"])
    config = {"scale": {"name": "quick"}, "sampler": {"name": "dmala"}}
    run = finished("DMALA", "Static MNIST", 0, config, {"log_likelihood": -150.0})
    page = draw_figure(shape.figures[0], shape, Results((run,)))
    assert [label.get_text() for label in page.axes[0].get_yticklabels()] == ["DMALA"]
    assert len([line for line in page.axes[0].lines if str(line.get_gid()) == "published v2"]) == 1
    pyplot.close(page)


@pytest.mark.parametrize("samplers", [2, 8])
def test_a_long_legend_leaves_references_to_the_ends_of_their_lines(samplers: int) -> None:
    rows = [f"{{row: R{n}}}" for n in range(samplers)] + ["{row: exact, role: draws}"]
    figure = {
        "name": "figure",
        "panels": [{"kind": "against_steps", "title": "a", "columns": ["a"], "metric": "acceptance"}],
    }
    shape = table(*rows, figures=[figure])
    names = [*[f"R{n}" for n in range(samplers)], "exact"]
    results = Results(
        tuple(
            run(row, "exact_draws" if row == "exact" else f"mine_{row}", seed)
            for row in names
            for seed in (0, 1)
        )
    )
    page = draw_figure(shape.figures[0], shape, results)
    legend = [text.get_text() for text in page.legends[0].get_texts()]
    written = [text.get_text() for text in page.axes[0].texts]
    assert (("exact" in legend), written) == ((True, []) if samplers == 2 else (False, ["exact"]))
    pyplot.close(page)


def test_references_that_end_at_one_height_share_a_label_beside_the_panel() -> None:
    page, ax = pyplot.subplots()
    for name, end in (("exact draws", 1.0), ("uniform draws", 0.97), ("floor", 0.1)):
        (line,) = ax.plot([0.0, 1.0], [0.5, end])
        mark_reference(line, name)
    assert name_at_ends(ax) == {"exact draws", "uniform draws", "floor"}
    found = [(text.get_text(), text.get_position()) for text in ax.texts]
    assert found == [("exact draws,\nuniform draws", (1.02, 1.0)), ("floor", (1.02, 0.1))]
    pyplot.close(page)


@pytest.mark.parametrize(("place", "side"), [(0.01, "left"), (0.9, "right")])
def test_the_name_of_an_upright_line_keeps_clear_of_the_axis(ax: Axes, place: float, side: str) -> None:
    """That of a line at the left edge stood on the axis."""
    ax.set_xlim(0, 1)
    mark_reference(ax.axvline(place), "exact draws")
    name_at_ends(ax)
    (text,) = ax.texts
    box, room = text.get_window_extent(), ax.get_window_extent()
    assert text.get_horizontalalignment() == side
    assert room.x0 < box.x0 < box.x1 < room.x1


@pytest.mark.parametrize("samplers", [5, 6])
def test_a_legend_is_read_line_by_line(samplers: int) -> None:
    """Matplotlib fills it column by column."""
    names = [f"A sampler with a long name, {n}" for n in range(samplers)]
    figure = {
        "name": "figure",
        "panels": [{"kind": "against_steps", "title": "a", "columns": ["a"], "metric": "acceptance"}],
    }
    shape = table(*[f'{{row: "{name}"}}' for name in names], figures=[figure])
    runs = (run(name, f"mine_{place}", seed) for place, name in enumerate(names) for seed in (0, 1))
    page = draw_figure(shape.figures[0], shape, Results(tuple(runs)))
    page.canvas.draw()
    boxes = {text.get_text(): text.get_window_extent() for text in page.legends[0].get_texts()}
    assert len({round(box.y0) for box in boxes.values()}) > 1
    assert sorted(boxes, key=lambda name: (-round(boxes[name].y0), boxes[name].x0)) == names
    pyplot.close(page)


def test_vector_output_embeds_its_fonts(tmp_path: Path) -> None:
    figure = {
        "name": "figure",
        "panels": [{"kind": "intervals", "title": "a", "columns": ["a"], "metric": "acceptance"}],
    }
    write_figures(table("{row: D}", figures=[figure]), Results((run("D", "dmala"),)), tmp_path)
    written = (tmp_path / "figure.pdf").read_bytes()
    assert b"/FontFile2" in written
    assert b"/Type3" not in written


def measured(row: str, mean: float, **metrics: float) -> list[Run]:
    """Three runs of `row`, whose acceptance has this mean."""
    config = {"scale": {"name": "quick"}, "sampler": {"name": row}}
    return [
        finished(row, "a", seed, config, {"acceptance": mean + 0.1 * (seed - 1), **metrics})
        for seed in range(3)
    ]


@pytest.mark.parametrize(
    ("low", "log_x", "scale", "missing"),
    [(0.5, None, "log", 0), (-0.5, None, "linear", 0), (-0.5, True, "log", 1), (0.5, False, "linear", 0)],
)
def test_intervals_have_a_linear_axis_where_a_mean_is_not_positive(
    ax: Axes, low: float, log_x: bool | None, scale: str, missing: int
) -> None:
    shape = table("{row: dmala}", "{row: gibbs}")
    results = Results((*measured("dmala", low), *measured("gibbs", 2.0)), random_runs=True)
    draw_intervals(ax, panel_data(shape, results, "a", metric="acceptance", log_x=log_x))
    assert ax.get_xscale() == scale
    assert [text.get_text() for text in ax.texts] == ["mean of 0 or less"] * missing


def test_a_figure_without_a_legend_says_what_its_intervals_are() -> None:
    panel = {"kind": "intervals", "metric": "acceptance", "columns": ["a"], "title": "a"}
    shape = table("{row: dmala}", figures=[{"name": "f", "legend": [], "panels": [panel]}])
    results = Results(tuple(measured("dmala", 0.5)), random_runs=True)
    (legend,) = draw_figure(shape.figures[0], shape, results).legends
    assert legend.get_title().get_text() == "mean and 95 % interval over seeds"


def test_the_legend_names_the_level_lines_of_real_data() -> None:
    panel = {"kind": "class_histogram", "row": "dmala", "columns": ["a"], "title": "a"}
    shape = table("{row: dmala}", figures=[{"name": "f", "legend": [], "panels": [panel]}])
    shares = {"class_0": 0.3, "class_1": 0.7, "real_0": 0.5, "real_1": 0.5}
    results = Results(tuple(measured("dmala", 0.5, **shares)), random_runs=True)
    (legend,) = draw_figure(shape.figures[0], shape, results).legends
    assert [text.get_text() for text in legend.get_texts()] == ["real data"]


def test_a_broken_label_keeps_its_words() -> None:
    assert break_line("an autocorrelation time", 6) == ["an", "autocorrelation", "time"]


def test_why_a_row_is_empty_covers_nothing() -> None:
    """A white box hid the axis, the line between samplers and variants, and published marks."""
    panel = {"kind": "intervals", "title": "a", "columns": ["a"], "metric": "acceptance", "log_x": False}
    shape = table("{row: D}", "{row: other}", figures=[{"name": "f", "panels": [panel]}])
    config = {"scale": {"name": "quick"}, "sampler": {"name": "acs"}}
    runs = [run("D", "dmala", seed) for seed in (0, 1)] + [finished("other", "a", 0, config, {})]
    page = draw_figure(shape.figures[0], shape, Results(tuple(runs)))
    ax = page.axes[0]
    said = {text.get_text(): text for text in ax.texts}
    assert set(said) == {"not measured"}
    assert said["not measured"].get_bbox_patch() is None
    assert said["not measured"].get_ha() == "left"
    left = ax.transData.inverted().transform(said["not measured"].get_window_extent().get_points())[0, 0]
    ax.plot(left, 1, marker="o")
    fit_labels(page)
    assert said["not measured"].get_ha() == "right"
    assert said["not measured"].get_window_extent().x1 < ax.get_window_extent().x1
    pyplot.close(page)


def test_a_part_is_as_high_as_the_whole_and_the_lines_that_its_legend_has_more() -> None:
    """Else a legend of one column leaves its only panel no room."""
    panels = "".join(
        f"{{kind: intervals, log_x: false, metric: acceptance, columns: [c{k}], title: c{k}}}, "
        for k in range(3)
    )
    shape = shape_from(f"""
    title: T
    caption: C
    rows: [{", ".join(f"{{row: row {k} of several}}" for k in range(7))}]
    columns: [{", ".join(f"{{label: c{k}, where: {{}}}}" for k in range(3))}]
    metrics: [{{metric: acceptance, name: Acceptance, direction: none}}]
    figures: [{{name: f, across: 3, panels: [{panels}]}}]
    """)
    runs = tuple(
        finished(f"row {k} of several", column, 0, {}, {"acceptance": 0.5})
        for k in range(7)
        for column in ("c0", "c1", "c2")
    )
    heights = []
    for columns in (("c0", "c1", "c2"), ("c1",)):
        left = shape.restricted(columns)
        page = draw_figure(
            left.figures[0], left, Results(tuple(one for one in runs if one.column in columns))
        )
        page.draw_without_rendering()
        (legend,) = page.legends
        heights.append((page.axes[0].get_window_extent().height, legend.get_window_extent().height))
    (whole, low), (part, high) = heights
    assert high > 1.5 * low
    assert part > 0.9 * whole
