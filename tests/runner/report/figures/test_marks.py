"""Marks of means and of published values: seen on their intervals, and apart where values are equal."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.markers import MarkerStyle

from runner.report.draw_figures import draw_figure
from runner.report.figures.published_marks import PUBLISHED
from runner.report.figures.sampler_looks import LOOKS
from runner.report.figures.style import VARIANT_MARKERS, row_styles
from runner.report.panel_kinds import panel_kind
from runner.report.recorded.recorded_results import recorded_results
from runner.report.runs.experiment_run import Run
from runner.report.runs.stored_results import Results
from runner.site.content.averages import averaged
from runner.site.content.charts import SYMBOLS, apart
from runner.site.content.curves import Curve
from tests.support.tables import finished, panel_data, placed, shape_from, shape_of

ROOT = Path(__file__).parents[4]
CURVE = ["step", "evaluations", "seconds", "metric", "value"]


def shape_of_rows(*rows: str, **more: Any) -> Any:
    names = "".join(f"{{row: '{row}'}}, " for row in rows)
    return shape_from(
        f"{{title: t, caption: c, rows: [{names}], columns: [{{label: a, where: {{}}}}], "
        f"metrics: [{{metric: tv, name: TV, direction: min}}]}}"
    )


def of_seeds(row: str, sampler: str, *values: float) -> list[Run]:
    config = {"scale": {"name": "quick"}, "sampler": {"name": sampler}, "n": 4}
    runs = []
    for seed, value in enumerate(values):
        curve = pd.DataFrame([(step, step, 0.1 * step, "tv", value) for step in range(1, 9)], columns=CURVE)
        bins = {f"overlap_bin_{bin}": value / 10 for bin in range(20)}
        runs.append(finished(row, "a", seed, config, {"tv": value, **bins}, curve=curve))
    return runs


def test_every_marker_of_a_variant_has_an_area() -> None:
    """A stroke is lost on the bar of an interval."""
    assert all(MarkerStyle(marker).is_filled() for marker in VARIANT_MARKERS)
    assert {*VARIANT_MARKERS, *(marker for _, marker in LOOKS.values())} <= SYMBOLS.keys()
    assert not any(symbol.endswith("-open") for symbol in SYMBOLS.values())


def test_variants_have_no_marker_of_a_sampler_of_their_colour() -> None:
    """Tempered samplers are all purple."""
    samplers = {"P": "pt_dmala", "P, 2": "pt_dmala", "P, 3": "pt_dmala", "U": "pt_dula", "G": "pt_gibbs"}
    runs = [run for row, name in samplers.items() for run in of_seeds(row, name, 0.5)]
    styles = row_styles(shape_of_rows(*samplers), Results(tuple(runs)))
    assert len({style.marker for style in styles.values()}) == len(samplers)
    assert [styles[row].marker for row in "PUG"] == [LOOKS[samplers[row]][1] for row in "PUG"]


@pytest.mark.parametrize(
    ("kind", "panel"),
    [
        ("intervals", {"metric": "tv"}),
        ("repeats", {"metric": "tv"}),
        ("against_columns", {"metric": "tv", "x": "n"}),
        ("against_steps", {"metric": "tv"}),
        ("overlaps", {}),
    ],
)
def test_a_mean_of_one_seed_says_so_beside_intervals(ax: Axes, kind: str, panel: dict[str, Any]) -> None:
    """It looked like one whose interval is too narrow to be seen."""
    one, three = of_seeds("A", "dmala", 0.5), of_seeds("B", "acs", 0.1, 0.2, 0.3)
    shape = shape_of_rows("A", "B")
    panel_kind(kind).draw(ax, panel_data(shape, Results((*one, *three)), "a", **panel))
    assert [text.get_text() for text in ax.texts] == ["n = 1"]
    ax.clear()
    panel_kind(kind).draw(ax, panel_data(shape, Results((*one, *three[:1])), "a", **panel))
    assert [text.get_text() for text in ax.texts] == []


def test_a_paused_run_does_not_move_its_row_in_time(ax: Axes) -> None:
    """The mean time of three seeds was that of the pause."""
    runs = of_seeds("A", "dmala", 0.1, 0.2, 0.3)
    curve = runs[0].folder.metrics()
    curve.loc[curve["step"] >= 5, "seconds"] += 900.0
    draw = panel_kind("against_steps").draw
    draw(ax, panel_data(shape_of_rows("A"), Results(tuple(runs)), "a", metric="tv", x="seconds"))
    assert ax.lines[0].get_xdata() == pytest.approx([0.1 * step for step in range(1, 9)])
    times = [[step * 10.0 + 900.0 * (seed == 0) for step in range(8)] for seed in range(3)]
    points = averaged(Curve([*range(8)], [1.0] * 8, seconds, [0.5] * 8) for seconds in times)
    assert [point.seconds for point in points] == times[1]


def test_labels_along_less_than_two_decades_are_plain_and_do_not_meet(ax: Axes) -> None:
    """3 x 10^1 stood on 4 x 10^1."""
    ax.figure.set_size_inches(3.0, 2.0)
    runs = of_seeds("A", "dmala", 0.1, 0.2, 0.3)
    for run in runs:
        run.folder.metrics()["evaluations"] = [14, 20, 30, 40, 60, 100, 150, 200]
    data = panel_data(shape_of_rows("A"), Results(tuple(runs)), "a", metric="tv", x="evaluations")
    panel_kind("against_steps").draw(ax, data)
    ax.figure.draw_without_rendering()
    texts = [label for label in [*ax.get_xticklabels(), *ax.get_xticklabels(minor=True)] if label.get_text()]
    boxes = sorted((label.get_window_extent() for label in texts), key=lambda box: float(box.x0))
    assert all(right.x0 > left.x1 for left, right in pairwise(boxes))
    assert {label.get_text() for label in texts} >= {"20", "50", "100", "200"}


@pytest.mark.parametrize("symbol", ["circle", "line-ew-open", "circle-open"])
def test_the_report_marks_a_mean_of_some_runs_whatever_the_symbol(symbol: str) -> None:
    """A symbol without an area stayed as it was."""
    made = apart({"marker": {"symbol": symbol}, "customdata": ["a", "b"]}, [None, "9 of 10"])
    assert made["marker"]["symbol"] == [symbol, "circle-open-dot"]


def test_equal_published_values_of_two_versions_are_seen() -> None:
    """The halo of the earlier version's mark wiped out that of the newer one."""
    shape = shape_of("pt_table3").restricted(["Static MNIST"])
    runs = [
        finished(
            row.row, "Static MNIST", seed, {"scale": {"name": "quick"}}, {"log_likelihood": -150.0 - seed}
        )
        for row in shape.rows
        for seed in (0, 1)
    ]
    ax = draw_figure(shape.figures[0], shape, Results(tuple(runs))).axes[0]
    newer, earlier = (
        [line for line in ax.lines if line.get_gid() == f"{PUBLISHED} {v}"] for v in ("v2", "v1")
    )
    strokes, halos = newer + earlier, [line for line in ax.lines if line.get_markeredgecolor() == "white"]
    equal = [
        (one, other)
        for one in newer
        for other in earlier
        if list(one.get_xydata()[0]) == list(other.get_xydata()[0])
    ]
    assert equal
    assert len(halos) == len(strokes)
    assert max(line.get_zorder() for line in halos) < min(line.get_zorder() for line in strokes)
    assert not any(line.get_path_effects() for line in strokes)
    for one, other in equal:
        assert one.get_markersize() > other.get_markersize() + 2 * one.get_markeredgewidth()
    means = [
        line for line in ax.lines if line not in strokes + halos and line.get_marker() not in ("", "None")
    ]
    assert max(line.get_zorder() for line in strokes) < min(line.get_zorder() for line in means)


def test_published_values_of_rows_stand_side_by_side_over_a_key() -> None:
    """Halos of four samplers hid the marks of others, and our means."""
    shape = shape_of("pt_table4")
    results = recorded_results(placed("pt_table4", "scale=paper"), ROOT / "outputs/record/pt_table4_paper")
    page = draw_figure(shape.figures[0], shape, results)
    first, second = page.axes[:2]
    marks = [line for line in first.lines if line.get_gid() == f"{PUBLISHED} v2"]
    places = {(float(line.get_xdata()[0]), line.get_markeredgecolor()) for line in marks}
    assert len({place for place, _ in places}) == len(places) == 32
    assert all(abs(place - 2 * round(place / 2)) < 0.5 for place, _ in places)
    assert {int(tick) for tick in first.get_xticks()} <= set(range(2, 17, 2))  # those with room for a label
    own = {bars.lines[0].get_color(): bars.lines[0] for bars in first.containers}
    for line in marks:
        mean = own[line.get_markeredgecolor()]
        assert line.get_xdata()[0] in mean.get_xdata()
        assert line.get_zorder() < mean.get_zorder()
    # Where nothing is published, all rows stand at the columns.
    assert {tuple(bars.lines[0].get_xdata()) for bars in second.containers} == {tuple(range(2, 17, 2))}
