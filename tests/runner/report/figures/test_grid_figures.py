"""Figures of a selection of runs: their size, their axes and what they leave out."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runner.report.selection.grid import Grid, grid_of
from runner.report.selection.grid_figures import line_grid
from runner.report.selection.stored_runs import StoredRun


def stored(
    seed: int = 0, task: dict[str, Any] | None = None, metrics: dict[str, float] | None = None, **sampler: Any
) -> StoredRun:
    """A run of DMALA with these settings of the sampler and the task that measured `metrics`."""
    config = {
        "seed": seed,
        "target": {"name": "bernoulli4"},
        "sampler": {"name": "dmala", **sampler},
        "task": {"name": "sample", "steps": 20, **(task or {})},
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


def test_runs_with_the_same_setting_that_is_not_a_number_differ_in_nothing() -> None:
    runs = [stored(seed, step_size=float("nan")) for seed in (0, 1)]
    assert grid_of(runs, "all").keys == []
