"""The interactive panels of figures: their numbers are those of the runs, their colours those of the PNG."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import colormaps
from matplotlib.colors import to_rgb

from metrics.inference.few_seeds import interval
from runner.report import panel_kinds
from runner.report.draw_figures import draw_figure
from runner.report.figures.metric_axis import quantity_of
from runner.report.figures.style import row_styles
from runner.report.runs.experiment_run import Run
from runner.report.runs.gathered import exact_values
from runner.report.runs.stored_results import Results
from runner.site.content.averages import averaged
from runner.site.content.charts import intervals_chart
from runner.site.content.curves import Curve
from runner.site.content.experiment_data import charts_of, run_charts
from runner.site.content.panels.against import against_columns
from runner.site.content.panels.along import Course, curves_plot
from runner.site.content.panels.grids import BLUES, ORANGE_TO_PURPLE
from runner.site.content.panels.known import Known
from runner.site.content.panels.panel_chart import KINDS, panel_chart
from runner.site.index.store_index import Index
from runner.store.arrays.array_files import VISITS
from targets.synthetic.bernoulli4 import Bernoulli4
from targets.tours.tsp import TSP
from tests.support.tables import finished, panel_data, shape_from

BERNOULLI = {"target": {"name": "bernoulli4", "_target_": "targets.synthetic.bernoulli4.Bernoulli4"}}
TOURS = {"target": {"name": "tsp", "_target_": "targets.tours.tsp.TSP", "cities": 5}}
NONE = {"data": {"root": None}}
PROBABILITIES = Bernoulli4().probabilities().numpy()
SHARES = np.stack([np.roll(PROBABILITIES, seed) for seed in range(3)])

BLOCK = """
title: Panels
caption: For the tests.
rows: [{row: A}, {row: B}, {row: draws, role: draws}]
columns: [{label: four, where: {target: bernoulli4, n: 4}}, {label: five, where: {target: tsp, n: 5}}]
metrics:
  - {metric: kl, name: KL, direction: min}
  - {metric: tour_cost, name: Length, direction: none}
figures:
  - name: figure
    floor_label: of the target
    panels:
      - {kind: state_shares, title: target, columns: [four]}
      - {kind: state_shares, title: A, row: A, columns: [four]}
      - {kind: state_gaps, title: A - target, row: A, columns: [four], limits: [-0.2, 0.2]}
      - {kind: state_gaps, title: B - target, row: B, columns: [four]}
      - {kind: spectrum, title: A, row: A, columns: [four]}
      - {kind: repeats, title: seeds, metric: kl, columns: [four], floor: kl_exact}
      - {kind: class_histogram, title: A, row: A, columns: [four]}
      - {kind: class_histogram, title: B, row: B, columns: [four]}
      - {kind: overlaps, title: overlaps, columns: [four]}
      - {kind: tour_costs, title: all, metric: tour_cost, columns: [five]}
      - {kind: tour_marginals, title: A, row: A, columns: [five]}
      - {kind: against_columns, title: n, metric: kl, x: n, columns: [four, five], log: true, log_x: true}
      - {kind: samples, title: A, row: A, columns: [four]}
"""


def visits(folder: Path, counts: np.ndarray) -> Path:
    folder.mkdir()
    buffer = io.BytesIO()
    np.savez_compressed(buffer, visits=counts)
    (folder / VISITS).write_bytes(buffer.getvalue())
    return folder


def tour_counts(seed: int) -> np.ndarray:
    return np.bincount(np.random.default_rng(seed).integers(0, 120, 40), minlength=120)


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Three seeds of each row and column; only A kept visits."""
    runs: list[Run] = []
    for seed in range(3):
        states = (SHARES[seed] * 10**7).round().astype(np.int64)
        classes = {"class_0": 0.2 * seed, "class_1": 0.3, "real_0": 0.1, "real_1": 0.9}
        overlaps = {f"overlap_bin_{bin}": (bin + seed) / 250 for bin in range(20)}
        own = {"kl": 1.0 + seed, "kl_exact": 0.5, **classes, **overlaps}
        kept = visits(tmp_path / f"A{seed}", states)
        runs.append(finished("A", "four", seed, BERNOULLI | NONE, own, kept))
        runs.append(finished("B", "four", seed, BERNOULLI | NONE, {"kl": 2.0, "kl_exact": 0.5}))
        kept = visits(tmp_path / f"T{seed}", tour_counts(seed))
        runs.append(finished("A", "five", seed, TOURS | NONE, {}, kept))
    return Results(tuple(runs))


FRAME = pd.DataFrame(
    {
        "row": ["A", "A", "B", "B"], "cell": ["five", "four", "four", "five"], "metric": "kl",
        "mean": [2.0, 1.0, 3.0, np.nan], "lo": [1.5, -1.0, np.nan, np.nan], "hi": [2.5, 3.0, np.nan, np.nan],
        "sd": [0.1, 0.5, np.nan, np.nan], "n": [3, 3, 1, 0],
    }
)  # fmt: skip


@pytest.fixture
def plots(results: Results) -> dict[str, Any]:
    shape = shape_from(BLOCK)
    chart = panel_chart(shape, results, FRAME, row_styles(shape, results), Known(Index("")))
    assert chart is not None
    return {f"{plot['name']}: {plot['column']}": plot for plot in chart["plots"]}


def test_every_kind_is_interactive_or_shown_elsewhere() -> None:
    elsewhere = {"intervals", "against_steps", "samples", "images"}
    assert {*KINDS, "against_columns"} == panel_kinds.panel_kinds().keys() - elsewhere


def test_panels_without_what_they_draw_are_left_out(plots: dict[str, Any]) -> None:
    assert list(plots) == [
        "KL (nats): n", "share of states: target, four", "share of states: A, four",
        "share less probability: A, four", "share of eigenvalues: four", "KL (nats): seeds",
        "share: four", "share of overlaps: four", "length of a tour: all", "tours: five",
    ]  # fmt: skip


def test_states_have_shares_intervals_and_the_colours_of_the_picture(plots: dict[str, Any]) -> None:
    names = ("share of states: target", "share of states: A", "share less probability: A")
    (target,), (own,), (gaps,) = (plots[f"{name}, four"]["traces"] for name in names)
    mean = SHARES.mean(0)
    assert np.ravel(target["z"]) == pytest.approx(PROBABILITIES)
    assert np.ravel(own["z"]) == pytest.approx(mean, abs=1e-6)
    assert np.ravel(gaps["z"]) == pytest.approx(mean - PROBABILITIES, abs=1e-6)
    span = interval([float(value) for value in SHARES[:, 6]])
    assert span is not None
    assert own["customdata"][1][2].startswith(f"state 0110<br>share {mean[6]:.4f}, 95 % interval ")
    assert f"n = 3<br>probability {PROBABILITIES[6]:.4f}" in own["customdata"][1][2]
    assert own["text"][1][0] == f"F {mean[4]:.3f}"
    assert (gaps["zmin"], gaps["zmax"]) == (-0.2, 0.2)
    for colours, name in ((BLUES, "Blues"), (ORANGE_TO_PURPLE, "PuOr")):
        wanted = [colormaps[name](place / (len(colours) - 1))[:3] for place in range(len(colours))]
        np.testing.assert_allclose([to_rgb(colour) for colour in colours], wanted, atol=2 / 255)


def test_overlaps_have_a_point_a_bin_for_the_rows_that_have_them(plots: dict[str, Any]) -> None:
    (line,) = plots["share of overlaps: four"]["traces"]
    assert (line["name"], line["mode"], line["line"]["dash"]) == ("A", "lines+markers", "solid")
    assert line["x"] == pytest.approx(np.arange(-0.95, 1, 0.1))
    assert line["y"] == pytest.approx([(bin + 1) / 250 for bin in range(20)])


def test_the_picture_of_overlaps_is_their_density(results: Results) -> None:
    shape = shape_from(BLOCK)
    figure = replace(
        shape.figures[0], panels=[one for one in shape.figures[0].panels if one.kind == "overlaps"]
    )
    page = draw_figure(figure, shape, results)
    (line,) = page.axes[0].lines
    middles, density = np.asarray(line.get_xydata()).T
    assert middles == pytest.approx(np.arange(-0.95, 1, 0.1))
    assert density == pytest.approx([10 * (bin + 1) / 250 for bin in range(20)])
    assert page.axes[0].get_xlim() == (-1.0, 1.0)


def test_the_spectrum_is_that_of_the_visits(plots: dict[str, Any]) -> None:
    outline, bars = plots["share of eigenvalues: four"]["traces"]
    eigenvalues = np.linalg.eigvalsh(Bernoulli4().hessians().numpy())
    width = outline["x"][1] - outline["x"][0]
    for place, middle in enumerate(outline["x"]):
        inside = ((eigenvalues >= middle - width / 2) & (eigenvalues < middle + width / 2)).mean(1)
        assert outline["y"][place] == pytest.approx(inside @ PROBABILITIES)
        assert bars["y"][place] == pytest.approx(inside @ SHARES.mean(0), abs=1e-6)
    assert bars["customdata"][10].endswith("n = 3")


def test_repeats_have_each_seed_and_the_mean(plots: dict[str, Any], results: Results) -> None:
    traces = {trace["name"]: trace for trace in plots["KL (nats): seeds"]["traces"]}
    assert list(traces) == ["A", "A, mean", "B", "B, mean", "of the target"]
    assert traces["A"]["x"] == [1.0, 2.0, 3.0]
    assert traces["A"]["customdata"] == [0, 1, 2]
    assert traces["A"]["marker"]["color"] == row_styles(shape_from(BLOCK), results)["A"].colour
    span = interval([1.0, 2.0, 3.0])
    assert span is not None
    assert span.margin is not None
    # KL is not negative.
    assert traces["A, mean"]["error_x"]["arrayminus"] == [pytest.approx(min(2.0, span.margin))]
    assert traces["A, mean"]["customdata"][0].endswith("n = 3")
    assert traces["of the target"]["x"] == [0.5, 0.5]


def test_classes_of_all_rows_are_one_plot(plots: dict[str, Any]) -> None:
    own, real = plots["share: four"]["traces"]
    assert (own["x"], own["y"]) == (["0", "1"], [pytest.approx(0.2), pytest.approx(0.3)])
    assert own["error_y"]["arrayminus"][0] == pytest.approx(0.2), "no share below zero"
    assert (real["name"], real["x"]) == ("real data", ["0", "1"])
    assert real["y"] == pytest.approx([0.1, 0.9])


def test_tours_count_once_or_by_their_draws(plots: dict[str, Any]) -> None:
    costs = np.concatenate([TSP(5).cost(TSP(5).tours()).numpy()] * 3)
    weights = np.concatenate([tour_counts(seed) for seed in range(3)])
    lengths = plots["length of a tour: all"]
    assert lengths["layout"]["xaxis"]["title"]["text"] == "length of a tour"  # shorter is no better here
    box = lengths["traces"][0]
    drawn = np.sort(np.repeat(costs, weights))
    assert box["median"] == [pytest.approx(drawn[len(drawn) // 2 - 1])]
    discs, across, up, *_ = plots["tours: five"]["traces"]
    seen = sum(int((tour_counts(seed) > 0).sum()) for seed in range(3))
    counts = np.array(discs["marker"]["size"]) * seen
    assert counts == pytest.approx(counts.round())
    assert counts.sum() == pytest.approx(seen)
    assert sum(across["y"]) == pytest.approx(1.0) == sum(up["x"])
    at_best = sum(size for size, gap in zip(discs["marker"]["size"], discs["y"], strict=True) if gap == 0)
    assert at_best == pytest.approx(3 / seen) == up["x"][0]


def test_columns_stand_at_their_values(plots: dict[str, Any], results: Results) -> None:
    plot = plots["KL (nats): n"]
    first, second = plot["traces"]
    assert (first["x"], first["y"]) == ([4.0, 5.0], [1.0, 2.0])
    assert first["error_y"]["arrayminus"] == [1.0, 0.5], "KL is not negative"
    assert second["x"] == [4.0]
    assert (plot["logx"], plot["logy"]) == (True, True)
    shape = shape_from(BLOCK)
    by_name = panel_data(shape, results, "four", "five", metric="kl", x="target")
    assert against_columns(by_name, FRAME, Known(Index(""))) is None
    squares = panel_data(shape, results, "four", "five", metric="kl", x="n", x_power=2.0)
    drawn = against_columns(squares, FRAME, Known(Index("")))
    assert drawn is not None
    assert drawn["traces"][0]["x"] == [16.0, 25.0]


def test_a_line_is_broken_at_a_mean_of_only_some_runs() -> None:
    runs = [
        finished("A", column, seed, {"n": n}, {"kl": None if (n, seed) == (5, 0) else float(n)})
        for column, n in (("four", 4), ("five", 5))
        for seed in range(3)
    ]
    data = panel_data(shape_from(BLOCK), Results(tuple(runs)), "four", "five", metric="kl", x="n")
    drawn = against_columns(data, FRAME[FRAME["row"] == "A"], Known(Index("")))
    assert drawn is not None
    points, line = drawn["traces"]
    assert (points["x"], points["mode"]) == ([4.0, 5.0], "markers")
    assert [symbol.endswith("-open-dot") for symbol in points["marker"]["symbol"]] == [False, True]
    assert points["customdata"][1].endswith(": 2 of 3 runs have a value")
    assert (line["x"], line["y"], line["mode"]) == ([4.0, 5.0], [1.0, None], "lines")


def test_exact_values_have_no_curve(tmp_path: Path) -> None:
    """The way of the run beside whose values they were found is that run's own, in figure and report."""
    names = ["step", "evaluations", "seconds", "metric", "value"]
    way = pd.DataFrame([(step, step, step, "kl", 1 / step) for step in (1, 2, 4)], columns=names)
    way.to_csv(tmp_path / "metrics.csv", index=False)
    runs = [
        finished("A", "four", 0, BERNOULLI | NONE, {"kl": 0.25, "kl_exact": 0.5}, tmp_path, curve=way),
        finished("B", "four", 0, BERNOULLI | NONE, {"kl": 0.25}),
    ]
    shape = shape_from(BLOCK.replace("{row: draws, role: draws}", "{row: exact value, exact: [kl]}"))
    results = Results((*runs, *exact_values(shape.row("exact value"), runs)))
    assert len(results.curves("A", "four", "kl")) == 3
    assert results.curves("exact value", "four", "kl").empty
    chart = run_charts(shape, results, Index(""))
    assert chart is not None
    assert {trace["name"] for plot in chart["plots"] for trace in plot["traces"]} == {"A"}


@pytest.mark.parametrize("column", ["without_value", "runs"])
def test_the_chart_of_the_table_marks_means_of_only_some_runs(column: str) -> None:
    """Older records do not count what is without a value."""
    shape = shape_from(BLOCK)
    frame = FRAME.assign(**{column: [0, 2, 0, 0] if column == "without_value" else [3, 5, 1, 1]})
    styles, known = row_styles(shape, Results(())), {"kl": quantity_of("kl")}
    (plot,) = intervals_chart(frame, {"kl": "KL"}, known, styles, [])["plots"]
    first, second = plot["traces"]
    assert [symbol.endswith("-open-dot") for symbol in first["marker"]["symbol"]] == [False, True]
    assert [said.partition(": ")[2] for said in first["customdata"]] == ["", "3 of 5 runs have a value"]
    assert isinstance(second["marker"]["symbol"], str)


def test_curves_are_broken_and_say_of_how_many_runs_they_are() -> None:
    values = {0: [1.0, None, 3.0, 4.0, 5.0], 1: [2.0, 2.0, 5.0, 4.0, None]}
    steps = [1, 2, 3, 4, 5]
    points = averaged(
        Curve(steps, [10.0 * step for step in steps], [0.1 * step for step in steps], each)
        for each in values.values()
    )
    shape = shape_from(BLOCK)
    courses, styles = {"A": Course(points, "2 of 3")}, row_styles(shape, Results(()))
    *bands, line = curves_plot(quantity_of("kl"), "KL", courses, styles)["traces"]
    assert line["y"] == [1.5, None, 4.0, 4.0, None]
    assert line["along"]["evaluations"] == [10.0, 20.0, 30.0, 40.0, 50.0]
    assert all(symbol.endswith("-open-dot") for symbol in line["marker"]["symbol"])
    assert line["customdata"][0].endswith(", n = 2: 2 of 3 runs have a value")
    assert [band["along"]["step"] for band in bands] == [[1], [1], [3, 4], [3, 4]]
    assert bands[3]["y"][1] == bands[2]["y"][1] == 4.0
    assert [band.get("fill") for band in bands] == [None, "tonexty"] * 2


def test_curves_take_one_run_of_each_seed_and_tell_of_failed_ones(tmp_path: Path) -> None:
    runs = []
    for place, seed in enumerate((0, 0, 1, 2)):
        folder = tmp_path / str(place)
        folder.mkdir()
        lines = [f"{step},{step},0.1,kl,{place + step}" for step in (1, 2)]
        (folder / "metrics.csv").write_text("\n".join(["step,evaluations,seconds,metric,value", *lines]))
        made = finished("A", "four", seed, BERNOULLI | NONE, {"kl": 1.0}, folder)
        runs.append(replace(made, run_id=str(place)))
    runs[-1] = replace(runs[-1], status="failed", summary=None)
    chart = run_charts(shape_from(BLOCK), Results(tuple(runs)), Index(""))
    assert chart is not None
    *_, line = chart["plots"][0]["traces"]
    assert line["y"] == [2.0, 3.0], "the means of the first and the third run"
    assert line["customdata"][0].endswith(", n = 2: 2 of 3 runs have a value")


def test_charts_show_a_metric_in_its_rows_alone(results: Results) -> None:
    shape = shape_from(BLOCK.replace("name: KL, direction: min", "name: KL, direction: min, rows: [B]"))
    charts = charts_of(shape, results, FRAME, Index(""))
    kinds = [charts["intervals"], *({"plots": [plot]} for plot in charts["panels"]["plots"])]
    of_kl = [plot for chart in kinds for plot in chart["plots"] if plot["name"].startswith("KL")]
    assert len(of_kl) == 3
    assert {trace.get("legendgroup") for plot in of_kl for trace in plot["traces"]} == {"B", "of the target"}


def test_a_heat_map_pools_the_seeds(tmp_path: Path) -> None:
    counts = np.random.default_rng(0).integers(0, 9, (2, 101 * 101))
    config = {
        "target": {"name": "mog", "_target_": "targets.synthetic.mixture_of_gaussians.MixtureOfGaussians",
                   "components": 8}
    } | NONE  # fmt: skip
    runs = [
        finished("A", "four", seed, config, {}, visits(tmp_path / str(seed), counts[seed])) for seed in (0, 1)
    ]
    data = panel_data(shape_from(BLOCK), Results(tuple(runs)), "four", row="A")
    known = Known(Index(""))
    plot = KINDS["heat_map"]([data], known)
    assert plot is not None
    (cells,) = plot["traces"]
    share = counts.sum(0) / counts.sum()
    assert np.array(cells["z"]).T.ravel() == pytest.approx(share, rel=6e-3)
    assert "draws, n = 2:" in cells["hovertemplate"]
    top = [round(255 * part) for part in colormaps["cividis"](1.0)[:3]]
    red, green, blue = (int(part) for part in cells["colorscale"][-1][1][4:-1].split(","))
    assert np.abs(np.array([red, green, blue]) - top).max() <= 3


def test_the_legend_says_what_the_boxes_of_tours_are(results: Results) -> None:
    """They stood under "mean and 95 % interval over seeds"."""
    shape = shape_from(BLOCK)
    panels = [panel for panel in shape.figures[0].panels if panel.kind == "tour_costs"]
    page = draw_figure(replace(shape.figures[0], panels=panels, legend=[]), shape, results)
    assert [text.get_text() for text in page.legends[0].get_texts()] == [
        "median of the target",
        "5 to 95 % of the target",
        "quartiles of the target",
        "box: median and quartiles, whiskers 5 to 95 %, all seeds together",
    ]
