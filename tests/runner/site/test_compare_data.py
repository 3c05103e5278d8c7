"""What the page Compare is told of the runs: which of them are one to a mean over seeds."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metrics.inference.few_seeds import t_quantile
from runner.report.figures import metric_axis
from runner.report.figures.metric_axis import Quantity
from runner.report.table_shape import Direction
from runner.site.content.charts import said_of
from runner.site.content.compare_data import runs_script, t_quantiles
from runner.site.index.known_quantities import known_quantities
from runner.site.index.run_entry import RunEntry
from runner.site.index.store_index import Index
from tests.support.site.html_page import script_data
from tests.support.site.run_entries import GIBBS, entry


def told(folder: Path, *runs: RunEntry) -> dict[str, Any]:
    """What the page reads of these runs."""
    names = {name: Quantity("") for run in runs for name in run.metrics}
    (folder / "runs.js").write_text(runs_script(runs, names, {}, [], [], {}))
    (content,) = script_data(folder / "runs.js")
    found: dict[str, Any] = content
    return found


def test_a_seed_that_was_run_with_other_metrics_is_the_same(tmp_path: Path) -> None:
    """Whatever the options of the metrics are: the chains are the same; those of another setting are not."""
    more = GIBBS | {"metric.mmd.bandwidth": 0.1}
    other = GIBBS | {"target.components": 16}
    runs = [
        entry(number, seed, settings, **metrics)
        for number, (seed, settings, metrics) in enumerate(
            [
                (0, GIBBS, {"tv": 0.1}),
                (1, GIBBS, {"tv": 0.2}),
                (0, more, {"tv": 0.1, "energy": 3.0}),
                (1, more, {"tv": 0.2, "energy": 4.0}),
                (0, other, {"tv": 0.3}),
            ]
        )
    ]
    assert told(tmp_path, *runs)["same"] == [0, 1, 0, 1, 2]


def test_values_keep_the_digits_in_which_large_ones_differ(tmp_path: Path) -> None:
    values = [123456.36, 123456.4, 123455.9]
    content = told(tmp_path, *(entry(seed, seed, GIBBS, energy=value) for seed, value in enumerate(values)))
    assert content["metrics"]["energy"] == values


def test_there_are_quantiles_for_a_mean_over_all_runs() -> None:
    """Also where further runs came, and for no run at all."""
    index = Index("", {})
    for number in (0, 1, 3, 4, 9, 200):
        index.runs = {str(run): entry(run, run, GIBBS) for run in range(number)}
        expected = [round(t_quantile(0.975, degrees), 6) for degrees in range(1, max(number, 2))]
        assert t_quantiles(index) == expected


def test_the_ends_of_an_interval_are_said_in_digits_that_tell_them_apart() -> None:
    assert said_of(123456.36, 123456.91, 3) == "95 % interval 123456.36 to 123456.91, n = 3"
    assert said_of(0.1, 1 / 3, 3) == "95 % interval 0.1 to 0.33333, n = 3"
    assert said_of(-1e9 - 1, 1 - 1e9, 3) == "95 % interval -1000000001 to -999999999, n = 3"
    assert said_of(2.0, 2.0, 3) == "95 % interval 2 to 2, n = 3"


def test_the_page_has_bounds_units_and_directions_of_own_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the name begins with that of one of ours: `tv` is smaller where it is better."""
    text = "from metrics import Metric\nclass Share(Metric):\n  unit, direction, bounds = {!r}, {!r}, {!r}\n"
    (tmp_path / "own_share.py").write_text(text.format("share", "max", (-1.0, 1.0)))
    monkeypatch.syspath_prepend(str(tmp_path))
    own = replace(entry(0, 0, GIBBS, tv_share=0.1, tv=0.2), own_metrics={"tv_share": "own_share.Share"})
    index = Index("", {own.run_id: own})
    names = ["tv_share", "tv_share_late", "tv"]
    for known in (known_quantities(names, index), known_quantities(names, index)):
        assert known["tv_share"] == Quantity("share", -1.0, 1.0, Direction.max)
        assert known["tv_share_late"] == Quantity("", -1.0, 1.0)
        assert known["tv"] == Quantity("probability", 0.0, 1.0, Direction.min)
    (tmp_path / "own_share.py").write_text(text.format("ones", None, (0.0, 2.0)))
    del sys.modules["own_share"]  # what a new process would not have, nor what was read before
    metric_axis._said.cache_clear()
    assert known_quantities(["tv_share"], index)["tv_share"] == Quantity("ones", 0.0, 2.0)
    assert known_quantities(["tv_share"], index, {})["tv_share"] == Quantity("", 0.0, 1.0)
