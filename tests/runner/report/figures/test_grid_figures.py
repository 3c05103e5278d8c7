"""Figures of a selection of runs: their size, their axes and what they leave out."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from matplotlib import pyplot

from runner.report import selection_table
from runner.report.draw_figures import draw_figure
from runner.report.selection.grid import Grid, grid_of
from runner.report.selection.grid_figures import add_intervals, left_out_of_lines, line_grid
from runner.report.selection.stored_runs import StoredRun
from runner.report.selection_table import show_runs, write_runs


def stored(
    seed: int = 0, task: dict[str, Any] | None = None, metrics: dict[str, float] | None = None, **sampler: Any
) -> StoredRun:
    """A run of DMALA with these settings of the sampler and the task that measured `metrics`."""
    config = {
        "seed": seed,
        "scale": {"name": "quick"},
        "target": {"name": "bernoulli4"},
        "sampler": {"name": "dmala", **sampler},
        "task": {
            "name": "sample",
            "_target_": "runner.tasks.sample_task.Sample",
            "steps": 20,
            **(task or {}),
        },
    }
    summary = {"metrics": metrics or {"tv": 0.1 + 0.01 * seed}, "seconds": 1.0, "exact": True}
    folder = SimpleNamespace(path=Path("nowhere"), run_id=f"{config}", manifest=lambda: None)
    return StoredRun(cast(Any, folder), "done", config, summary)


def lines_of(runs: list[StoredRun]) -> Grid | None:
    return line_grid(runs, grid_of(runs, "all"))


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf"), "auto"])
def test_a_value_that_no_axis_has_a_place_for_is_left_out_of_the_lines(odd: Any) -> None:
    """With NaN the command ended in "cannot convert float NaN to integer"."""
    runs = [stored(seed, step_size=value) for value in (odd, 3, 1, 2) for seed in (0, 1)]
    labels = [row.row for row in grid_of(runs, "all").shape.rows]
    assert labels == [f"dmala, step_size={value}" for value in (1, 2, 3, odd)]
    lines = lines_of(runs)
    assert lines is not None
    columns = [column.label for column in lines.shape.columns]
    assert columns == [f"bernoulli4, step_size={value}" for value in (1, 2, 3)]
    assert lines_of(runs[:6]) is None


def test_what_has_no_place_on_the_axis_of_the_lines_is_said() -> None:
    """Without a word the figure had other rows than the table."""
    runs = [stored(step_size=value) for value in ("auto", 3, 1, 2)]
    (said,) = left_out_of_lines(runs, grid_of(runs, "all"))
    assert said == (
        "The figure lines leaves out 1 of 4 rows, which have no number for sampler.step_size: "
        "dmala, step_size=auto."
    )
    assert left_out_of_lines(runs[1:], grid_of(runs[1:], "all")) == []
    assert left_out_of_lines(runs[:3], grid_of(runs[:3], "all")) == [], "there are no lines"
    runs = [stored(task={"burn_in": value}) for value in ("none", 3, 1, 2)]
    (said,) = left_out_of_lines(runs, grid_of(runs, "all"))
    assert said.startswith(
        "The figure lines leaves out 1 of 4 columns, which have no number for task.burn_in: "
    )
    many = [f"odd {number}" for number in range(10)]
    runs = [stored(step_size=value) for value in (*many, 3, 1, 2)]
    (said,) = left_out_of_lines(runs, grid_of(runs, "all"))
    assert said.endswith("; dmala, step_size=odd 7; and 2 more.")


def test_the_sentence_stands_below_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(selection_table, "write_figures", lambda *_: [])
    runs = [stored(step_size=value) for value in ("auto", 3, 1, 2)]
    folder = write_runs(runs, *show_runs(runs, "all"), [], tmp_path)
    (said,) = left_out_of_lines(runs, grid_of(runs, "all"))
    assert said in capsys.readouterr().out.splitlines()
    assert f"- {said}\n" in (folder / "table.md").read_text()


@pytest.mark.parametrize(("number", "caption"), [(1, "1 run."), (2, "2 runs.")])
def test_the_caption_counts_the_runs(number: int, caption: str) -> None:
    assert grid_of([stored(seed) for seed in range(number)], "all").shape.caption == caption


def test_runs_with_the_same_setting_that_is_not_a_number_differ_in_nothing() -> None:
    runs = [stored(seed, step_size=float("nan")) for seed in (0, 1)]
    assert grid_of(runs, "all").keys == []


LONG = ("step_size", "auxiliary_step_size", "acceptance", "balancing", "radius", "precondition")


@pytest.mark.filterwarnings("error", "ignore::DeprecationWarning")
def test_long_names_of_rows_leave_room_for_the_panel() -> None:
    """Every row read `_size=0.1`, and Matplotlib warned that no axes were left."""
    runs = [stored(seed, **dict.fromkeys(LONG, value)) for value in (0.125, 0.25) for seed in (0, 1)]
    runs += [stored(**dict.fromkeys(LONG, 0.125) | {key: 0.25}) for key in LONG]
    grid = grid_of(runs, "all")
    add_intervals(grid)
    page = draw_figure(grid.shape.figures[0], grid.shape, grid.results)
    page.draw_without_rendering()
    (ax,) = page.axes
    assert ax.get_window_extent().width > 0.4 * page.bbox.width
    labels = ax.get_yticklabels()
    assert [label.get_text().replace("\n", " ") for label in labels] == [row.row for row in grid.shape.rows]
    boxes = [label.get_window_extent() for label in labels]
    assert min(box.x0 for box in boxes) >= 0
    assert all(above.y0 >= below.y1 for above, below in pairwise(boxes))
    pyplot.close(page)


@pytest.mark.filterwarnings("error", "ignore::DeprecationWarning")
def test_a_legend_of_many_long_names_leaves_room_for_the_lines() -> None:
    runs = [
        stored(task={"steps": steps}, **dict.fromkeys(LONG, 0.125) | {key: 0.01 * place})
        for steps in (10, 20, 40)
        for key in LONG
        for place in range(1, 8)
    ]
    lines = lines_of(runs)
    assert lines is not None
    figure = lines.shape.figures[0]
    page = draw_figure(figure, lines.shape, lines.results)
    page.draw_without_rendering()
    legend = page.legends[0].get_window_extent()
    assert legend.x0 >= 0
    assert legend.x1 <= page.bbox.width
    assert legend.y0 >= 0
    for ax in page.axes:
        assert ax.get_window_extent().height > 0.25 * figure.height * page.dpi
        assert ax.get_window_extent().y0 > legend.y1
    pyplot.close(page)


@pytest.mark.parametrize(
    ("values", "log"), [((1e-12, 1.0, 1e3), True), ((1.0, 2.0, 49.0), False), ((0.0, 1.0, 1e3), False)]
)
def test_lines_over_decades_have_a_logarithmic_axis(values: tuple[float, ...], log: bool) -> None:
    """As a chart of the report has; they lay on the bottom of a linear one."""
    runs = [stored(metrics={"tv": value}, step_size=place) for place, value in enumerate(values, 1)]
    lines = lines_of(runs)
    assert lines is not None
    assert [panel.log for panel in lines.shape.figures[0].panels] == [log]
