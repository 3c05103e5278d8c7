"""Means over some seeds: where only some runs have a finite value, and where a column has fewer seeds."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd
import pytest
from matplotlib import pyplot

from metrics.inference.few_seeds import interval
from runner.report.analysis.compared_rows import compared_rows
from runner.report.analysis.comparison import compared
from runner.report.analysis.table_entries import Summary, summarise
from runner.report.draw_figures import draw_figure
from runner.report.figures.partial_means import MEANING, partial_handles
from runner.report.page import grid_lines
from runner.report.page.latex import latex
from runner.report.page.layout import Page, lay_out
from runner.report.page.markdown import markdown
from runner.report.panels.intervals import draw_intervals
from runner.report.panels.lines import draw_against_steps
from runner.report.panels.repeats import draw_repeats
from runner.report.published import PublishedNumbers
from runner.report.recorded.seed_values import seed_values
from runner.report.runs.experiment_run import Run
from runner.report.runs.stored_results import Results
from runner.report.selection.grid import Grid
from runner.site.content.averages import averaged
from runner.site.content.curves import Curve
from runner.site.content.panels.known import Known
from runner.site.content.panels.rows import repeats
from runner.site.content.recorded_table import read_page
from runner.site.index.store_index import Index
from tests.support.tables import finished, panel_data, shape_from

BLOCK = """
title: A small table
caption: For the tests.
rows: [{row: lucky}, {row: steady}, {row: slow}, {row: never}, {row: unmeasured}]
columns: [{label: graph, where: {}}]
metrics: [{metric: time_to_target, name: Time, direction: min}]
"""
TIMES = {
    "lucky": [2.0, None, 3.0, None],
    "steady": [10.0, 12.0, 11.0, 10.0],
    "slow": [40.0, 45.0, 50.0, 42.0],
    "never": [None] * 4,
}


@pytest.fixture
def results() -> Results:
    runs = [
        finished(row, "graph", seed, {"scale": {"name": "quick"}}, {"time_to_target": time})
        for row, times in TIMES.items()
        for seed, time in enumerate(times)
    ]
    other = [finished("unmeasured", "graph", seed, {"scale": {"name": "quick"}}, {}) for seed in range(4)]
    return Results((*runs, *other), random_runs=True)


@pytest.fixture
def summary(results: Results) -> Summary:
    return summarise(shape_from(BLOCK), results, PublishedNumbers({}))


@pytest.fixture
def page(summary: Summary, results: Results) -> Page:
    return lay_out(shape_from(BLOCK), summary, results, "", "")


def test_a_mean_over_the_runs_that_reached_a_target_is_compared_with_nothing(summary: Summary) -> None:
    found = {row: summary.at("time_to_target", row, "graph") for row in (*TIMES, "unmeasured")}
    assert found["lucky"].interval == interval([2.0, 3.0])
    assert [row for row, entry in found.items() if entry.best] == ["steady"]
    assert [row for row, entry in found.items() if entry.p_value is not None] == ["slow"]
    assert [entry.seeds for entry in found.values()] == ["2 of 4", None, None, "0 of 4", None]


def test_sorted_lines_begin_with_the_best_and_end_with_what_has_no_value(
    summary: Summary, results: Results
) -> None:
    """A mean of two of four seeds is no better than the best of all, though it is smaller."""
    grid = Grid(["sampler"], shape_from(BLOCK), results, {}, {})
    found = grid_lines._rows(grid, summary, "graph", "time_to_target")
    assert found == ["steady", "slow", "lucky", "never", "unmeasured"]
    assert summary.at("time_to_target", found[0], "graph").best


def test_a_failed_run_is_a_run_without_a_value(results: Results) -> None:
    """Chains that met NaN are a choice of runs, too."""
    runs = [
        replace(run, status="failed", summary=None) if (run.row, run.seed) == ("steady", 2) else run
        for run in results.runs
    ]
    found = summarise(shape_from(BLOCK), Results(tuple(runs), random_runs=True), PublishedNumbers({}))
    assert found.at("time_to_target", "steady", "graph").seeds == "3 of 4"
    assert not any(entry.best or entry.p_value is not None for entry in found)


def test_a_quotient_is_lost_with_its_numerator() -> None:
    runs = [
        finished(row, "graph", seed, {"scale": {"name": "quick"}}, {"ess": ess})
        for row, found in {"lucky": [90.0, None, 95.0], "steady": [50.0, 52.0, 51.0]}.items()
        for seed, ess in enumerate(found)
    ]
    results = Results(tuple(runs), random_runs=True)
    assert results.without_value("lucky", "graph", "ess_per_second") == 1
    shape = shape_from(BLOCK.replace("time_to_target", "ess_per_second").replace("min", "max"))
    assert not any(entry.best for entry in summarise(shape, results, PublishedNumbers({})))


def test_a_floor_that_lost_runs_is_compared_with_nothing() -> None:
    times = {"lucky": [1.05, None, None], "steady": [1.0, 1.1, 1.2], "slow": [1.3, 1.2, 1.4]}
    runs = [
        finished(row, "graph", seed, {"scale": {"name": "quick"}}, {"time_to_target": time})
        for row, found in times.items()
        for seed, time in enumerate(found)
    ]
    shape = shape_from(BLOCK.replace("direction: min", "direction: min, floor: lucky"))
    summary = summarise(shape, Results(tuple(runs), random_runs=True), PublishedNumbers({}))
    assert not any(entry.within_floor for entry in summary)


def test_rows_equal_to_the_best_are_as_good() -> None:
    """Else an unmarked number would read as one that differs significantly."""
    times = {"lucky": [1.0] * 5, "steady": [1.0] * 5, "slow": [1.0, 1.1, 1.0, 1.2, 1.1], "never": [2.0] * 5}
    runs = [
        finished(row, "graph", seed, {"scale": {"name": "quick"}}, {"time_to_target": time})
        for row, found in times.items()
        for seed, time in enumerate(found)
    ]
    results = Results(tuple(runs), random_runs=True)
    summary = summarise(shape_from(BLOCK), results, PublishedNumbers({}))
    assert [entry.row for entry in summary if entry.best] == ["lucky", "steady"]
    text = markdown(lay_out(shape_from(BLOCK), summary, results, "", ""))
    assert text.count("| **1**") == 2


def test_equal_means_of_different_seeds_are_both_the_best() -> None:
    """The sentence below the table says so of every mean that is equal to the best."""
    times = {"lucky": [1.0, 0.1, 0.7], "steady": [0.7, 1.0, 0.1], "slow": [2.0, 3.0, 2.5]}
    runs = [
        finished(row, "graph", seed, {"scale": {"name": "quick"}}, {"time_to_target": time})
        for row, found in times.items()
        for seed, time in enumerate(found)
    ]
    summary = summarise(shape_from(BLOCK), Results(tuple(runs), random_runs=True), PublishedNumbers({}))
    assert [entry.row for entry in summary if entry.best] == ["lucky", "steady"]
    assert not any(entry.not_significant for entry in summary if entry.best)


def test_a_row_with_fewer_seeds_than_others_says_so() -> None:
    runs = [
        finished(row, "graph", seed, {"scale": {"name": "quick"}}, {"time_to_target": 9.0 + seed})
        for row, seeds in (("lucky", 3), ("steady", 5))
        for seed in range(seeds)
    ]
    found = summarise(shape_from(BLOCK), Results(tuple(runs), random_runs=True), PublishedNumbers({}))
    assert [found.at("time_to_target", row, "graph").seeds for row in ("lucky", "steady")] == ["3", None]


def test_rows_without_some_values_are_not_compared(results: Results) -> None:
    """Two of four runs of `lucky` reached the target soon; the sentence must not say that it is better."""
    block = (
        BLOCK
        + """comparisons:
  - {metric: time_to_target, rows: [lucky, steady]}
  - {metric: time_to_target, rows: [steady, slow]}
  - {metric: time_to_target, rows: [lucky, never]}
"""
    )
    first, second, third = compared(compared_rows(shape_from(block), results))
    assert first == (
        "Time, graph: lucky against steady: not compared, as 2 of 4 runs of lucky have no finite value."
    )
    assert "significantly different (p = " in second
    assert third.endswith("as 2 of 4 runs of lucky and 4 of 4 runs of never have no finite value.")


def with_curves(values: Mapping[int, Sequence[float | None]]) -> Iterator[Run]:
    """Runs of these seeds with the values along them, one a step; None is one that is not finite."""
    for seed, each in values.items():
        rows = [(step, step, 0.1 * step, "time_to_target", math.nan if value is None else value)
                for step, value in enumerate(each, start=1)]  # fmt: skip
        curve = pd.DataFrame(rows, columns=["step", "evaluations", "seconds", "metric", "value"])
        config = {"scale": {"name": "quick"}, "sampler": {"name": "dmala"}}
        yield finished("steady", "graph", seed, config, {"time_to_target": 3.0}, curve=curve)


def test_a_curve_ends_where_a_seed_has_no_value() -> None:
    """A mean over the seeds that are left would be too good."""
    values = {0: [1.0, 2.0, 3.0], 1: [1.5, None, 3.5]}
    averages = averaged(Curve([1, 2, 3], [1, 2, 3], [0.1, 0.2, 0.3], each) for each in values.values())
    assert [(point.step, point.span and point.span.mean) for point in averages] == [
        (1, 1.25), (2, None), (3, 3.25)
    ]  # fmt: skip
    figure, ax = pyplot.subplots()
    shape = shape_from(BLOCK)
    draw_against_steps(
        ax, panel_data(shape, Results(tuple(with_curves(values))), "graph", metric="time_to_target")
    )
    (bars,) = ax.containers
    assert list(bars.lines[0].get_ydata()) == [1.25, 3.25]
    pyplot.close(figure)


def test_the_table_says_how_many_runs_the_mean_is_of(page: Page) -> None:
    text = markdown(page)
    lines = [line.strip("| ") for line in text.splitlines() if line.startswith("| ")]
    cells = {row: cell for row, _, cell in (line.partition(" | ") for line in lines)}
    assert cells["lucky"].endswith(" (n=2 of 4)")
    assert cells["never"] == "- (n=0 of 4)"
    assert cells["unmeasured"] == "-"
    assert "n=" not in cells["steady"]
    assert "n=a of b: of b runs a have a finite value" in text
    assert "n is given where" not in text
    assert markdown(read_page(text, ())) == text
    assert "($n=2$ of $4$)" in latex(page)
    assert "$\\mbox{--}$ {\\tiny ($n=0$ of $4$)}" in latex(page)


def test_figures_say_how_many_runs_a_mean_is_of(results: Results) -> None:
    _, ax = pyplot.subplots()
    draw_intervals(ax, panel_data(shape_from(BLOCK), results, "graph", metric="time_to_target"))
    assert [text.get_text() for text in ax.texts] == ["2 of 4", "no value", "not measured"]
    pyplot.close()


def test_intervals_without_a_sampler_say_so(results: Results) -> None:
    """An axis for no rows made a warning of Matplotlib and an empty figure."""
    figure, ax = pyplot.subplots()
    block = re.sub(r"\{row: (\w+)\}", r"{row: \1, role: draws}", BLOCK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_intervals(ax, panel_data(shape_from(block), results, "graph", metric="time_to_target"))
    assert [text.get_text() for text in ax.texts] == ["no row of a sampler"]
    pyplot.close(figure)


def test_panels_of_all_seeds_mark_means_of_only_some_runs(results: Results) -> None:
    """A row without any value had an empty line."""
    figure, ax = pyplot.subplots()
    data = panel_data(shape_from(BLOCK), results, "graph", metric="time_to_target")
    draw_repeats(ax, data)
    assert [text.get_text() for text in ax.texts] == ["2 of 4", "no value", "not measured"]
    (part,) = [line for line in ax.lines if line.get_fillstyle() == "left"]
    assert part.get_xydata().tolist() == [[2.5, 0.0]]
    pyplot.close(figure)
    plot = repeats([data], Known(Index("")))
    assert plot is not None
    notes = plot["layout"]["annotations"]
    assert [(note["y"], note["text"]) for note in notes] == [(3, "no value"), (4, "not measured")]
    means = {trace["meta"]: trace for trace in plot["traces"] if trace["name"].endswith(", mean")}
    assert means["lucky"]["customdata"][0].endswith("n = 2: 2 of 4 runs have a value")
    assert means["lucky"]["marker"]["symbol"][0].endswith("-open-dot")
    assert means["steady"]["marker"]["symbol"] == "line-ns-open"


@pytest.fixture
def distances() -> Results:
    """At distance 2 three of five runs of `near` reached the target, at 4 none; all others did."""
    reached = {1: 5, 2: 3, 3: 5, 4: 0, 5: 5, 6: 5}
    runs = [
        finished(
            row, f"D = {far}", seed, {"target": {"distance": far}, "scale": {"name": "quick"}},
            {"time_to_target": far + seed / 10 if row == "far" or seed < reached[far] else None},
        )
        for row in ("near", "far") for far in reached for seed in range(5)
    ]  # fmt: skip
    return Results(tuple(runs), random_runs=True)


DISTANCES = """
title: Distances
caption: For the tests.
rows: [{row: near}, {row: far}]
columns: [{label: D = 1, where: {target.distance: 1}}, {label: D = 2, where: {target.distance: 2}},
  {label: D = 3, where: {target.distance: 3}}, {label: D = 4, where: {target.distance: 4}},
  {label: D = 5, where: {target.distance: 5}}, {label: D = 6, where: {target.distance: 6}}]
metrics: [{metric: time_to_target, name: Time, direction: min}]
figures: [{name: figure, width: 4, height: 2.4, panels: [{kind: against_columns, title: T, x: target.distance,
  metric: time_to_target, theory: 1, columns: [D = 1, D = 2, D = 3, D = 4, D = 5, D = 6]}]}]
"""


def test_a_line_is_broken_at_a_mean_of_only_some_runs(distances: Results) -> None:
    shape = shape_from(DISTANCES)
    page = draw_figure(shape.figures[0], shape, distances)
    ax = page.axes[0]
    near, dotted = ax.containers[1].lines[0], next(line for line in ax.lines if line.get_linestyle() == ":")
    assert list(near.get_xdata()) == [1, 2, 3, 4, 5, 6]
    assert [math.isnan(value) for value in near.get_ydata()] == [False, True, False, True, False, False]
    (part,) = [line for line in ax.lines if line.get_fillstyle() == "left"]
    assert part.get_xydata().tolist() == [[2.0, pytest.approx(2.1)]]
    assert [text.get_text() for text in ax.texts] == ["3 of 5"]
    assert list(dotted.get_xdata()) == [1, 3, 5, 6]
    assert MEANING in [text.get_text() for text in page.legends[0].get_texts()]


def test_a_band_is_broken_where_a_seed_has_no_value() -> None:
    values = {0: [*range(1, 9)], 1: [1.5, 2.5, None, 4.5, None, 6.5, 7.5, 8.5]}
    figure, ax = pyplot.subplots()
    data = panel_data(
        shape_from(BLOCK), Results(tuple(with_curves(values))), "graph", metric="time_to_target"
    )
    draw_against_steps(ax, data)
    line, alone = ax.lines[:2]
    assert [math.isnan(value) for value in line.get_ydata()] == [
        False,
        False,
        True,
        False,
        True,
        False,
        False,
        False,
    ]
    assert alone.get_xydata().tolist() == [[4.0, 4.25]]
    pyplot.close(figure)


@pytest.mark.parametrize("steps", [3, 40])
def test_a_curve_of_which_a_seed_failed_says_so(steps: int) -> None:
    """Its line joins means of the same runs; the markers and the last point say of how many."""
    whole = {seed: [1.0 + seed + step for step in range(steps)] for seed in range(4)}
    runs = [*with_curves(whole)]
    runs[1] = replace(runs[1], status="failed", summary=None)
    other = [replace(run, row="slow") for run in with_curves(whole)]
    results = Results((*runs, *other), random_runs=True)
    figure, ax = pyplot.subplots()
    draw_against_steps(ax, panel_data(shape_from(BLOCK), results, "graph", metric="time_to_target"))
    lines = [line for line in ax.lines if line.get_marker() not in ("|", "_", ".")]
    half, last, full = sorted(lines, key=lambda line: line.get_fillstyle() == "full")
    assert [len(line.get_xdata()) for line in (half, last, full)] == [steps, 1, steps]
    assert [line.get_fillstyle() for line in (half, last, full)] == ["left", "left", "full"]
    assert last.get_xydata().tolist() == [half.get_xydata()[-1].tolist()]
    assert [text.get_text() for text in ax.texts] == ["3 of 4"]
    assert [line.get_label() for line in partial_handles([ax])] == [MEANING]
    pyplot.close(figure)


def test_the_ends_of_the_drawn_intervals_are_those_of_the_table(results: Results) -> None:
    _, ax = pyplot.subplots()
    draw_intervals(ax, panel_data(shape_from(BLOCK), results, "graph", metric="time_to_target"))
    bars, caps = ax.collections
    spans = [
        interval([time for time in TIMES[row] if time is not None]) for row in ("lucky", "steady", "slow")
    ]
    ends = [
        (max(span.mean - span.margin, 0.0), span.mean + span.margin) for span in spans if span and span.margin
    ]
    segments = [[point.tolist() for point in segment] for segment in bars.get_segments()]
    assert segments == [[[low, place], [high, place]] for place, (low, high) in enumerate(ends)]
    places = [[low, place] for place, (low, _) in enumerate(ends)] + [
        [high, place] for place, (_, high) in enumerate(ends)
    ]
    assert caps.get_offsets().tolist() == places
    assert [line.get_xdata()[0] for line in ax.lines] == [span.mean for span in spans if span]
    pyplot.close()


@pytest.mark.parametrize("fewer", [3, 1])
def test_columns_with_fewer_seeds_are_named(fewer: int) -> None:
    shape = shape_from(
        BLOCK.replace("{label: graph, where: {}}", "{label: short, where: {}}, {label: long, where: {}}")
    )
    runs = [
        finished("steady", column, seed, {"scale": {"name": "quick"}}, {"time_to_target": seed + 10.0})
        for column, seeds in (("short", 4), ("long", fewer))
        for seed in range(seeds)
    ]
    results = Results(tuple(runs), random_runs=True)
    summary = summarise(shape, results, PublishedNumbers({}))
    assert f"over n = 4 seeds; n = {fewer} in 'long'." in markdown(lay_out(shape, summary, results, "", ""))


def test_the_values_by_seed_are_those_of_all_metrics_for_the_rows_that_show_them() -> None:
    others = (
        "{metric: mass, name: M, direction: none, rows: [lucky]}, {metric: jump, name: J, direction: none}"
    )
    shape = shape_from(BLOCK.replace("metrics: [", f"metrics: [{others}, "))
    values = {"time_to_target": 2.0, "mass": 0.5, "jump": 3.0}
    runs = [finished(row, "graph", 0, {"scale": {"name": "quick"}}, values) for row in ("lucky", "slow")]
    lines = seed_values(shape, Results(tuple(runs), random_runs=True)).splitlines()
    of_both = [
        f"{row},graph,{value}" for value in ("jump,3.0", "time_to_target,2.0") for row in ("slow", "lucky")
    ]
    assert lines[0] == "row,cell,metric,0"
    assert sorted(lines[1:]) == sorted(["lucky,graph,mass,0.5", *of_both])


def test_a_failed_run_does_not_count_where_nobody_asked_for_the_metric(results: Results) -> None:
    """The runs that are done beside it have not measured it."""
    failed = replace(results.at("unmeasured", "graph")[0], summary=None, status="failed")
    others = results.at("unmeasured", "graph")[1:]
    alone = Results((failed, *others), random_runs=True)
    assert alone.without_value("unmeasured", "graph", "time_to_target") == 0
    never = Results((replace(failed, seed=9), *results.at("never", "graph")), random_runs=True)
    assert [never.without_value(row, "graph", "time_to_target") for row in ("never", "unmeasured")] == [4, 1]
    assert Results((failed,), random_runs=True).without_value("unmeasured", "graph", "time_to_target") == 1


def test_a_row_that_a_metric_does_not_show_does_not_compete(results: Results) -> None:
    """Neither for the best nor in the number of tests."""
    shown = BLOCK.replace("direction: min}", "direction: min, rows: [steady, slow]}")
    hidden = shown.replace("{row: lucky}", "{row: quick}")
    quick = [replace(run, row="quick") for run in results.at("steady", "graph")]
    quick = [replace(run, summary={**run.summary, "metrics": {"time_to_target": 1.0}}) for run in quick]
    summary = summarise(shape_from(hidden), Results((*results.runs, *quick)), PublishedNumbers({}))
    assert [entry.row for entry in summary if entry.best] == ["steady"]
    tested = {entry.row: entry.p_value for entry in summary if entry.p_value is not None}
    two = BLOCK.replace(
        "{row: lucky}, {row: steady}, {row: slow}, {row: never}, {row: unmeasured}",
        "{row: steady}, {row: slow}",
    )
    pair = Results((*results.at("steady", "graph"), *results.at("slow", "graph")))
    alone = summarise(shape_from(two), pair, PublishedNumbers({}))
    assert tested == {"slow": alone.at("time_to_target", "slow", "graph").p_value}
