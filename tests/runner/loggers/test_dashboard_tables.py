"""The tables of a dashboard: curves over seeds and rates by rung, where some seeds have several runs."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pandas as pd
import pytest
from omegaconf import OmegaConf

from metrics.inference.few_seeds import interval
from runner.dashboards.tables import curves, rungs
from runner.report.runs.experiment_run import Run
from runner.report.runs.stored_results import Results
from runner.store.run_folder import RunFolder
from tests.support.tables import finished

if TYPE_CHECKING:
    from runner.dashboards.shown import Shown


def shown(runs: list[Run]) -> Shown:
    """What a dashboard shows of `runs`, of a table that names no metric."""
    shape = SimpleNamespace(metrics=())
    return cast("Shown", SimpleNamespace(results=Results(tuple(runs)), shape=shape))


def curve(**values: list[float]) -> pd.DataFrame:
    """The rows of a run at two steps: its `seconds`, and the values of its metrics."""
    seconds = values.pop("seconds")
    along = {"step": [10, 20], "evaluations": [30, 60], "seconds": seconds}
    return pd.concat([pd.DataFrame({**along, "metric": name, "value": of}) for name, of in values.items()])


def test_a_seed_counts_once_in_a_curve_and_a_pause_moves_no_point() -> None:
    """The second run of each seed measured another metric; its `kl` is the same, and its times are not."""
    kl = [[1.0, 0.5], [3.0, 0.7], [4.0, math.inf]]
    seconds = [[1.0, 2.0], [1.5, 2.5], [50.0, 60.0]]
    runs = [
        finished("A", "MoG", seed, {}, {"kl": 1.0, name: 1.0}, curve=rows)
        for seed, (values, times) in enumerate(zip(kl, seconds, strict=True))
        for name, rows in (
            ("kl", curve(seconds=times, kl=values)),
            ("tv", curve(seconds=[100.0, 200.0], kl=values, tv=values)),
        )
    ]
    found = curves(shown(runs))
    span = interval([1.0, 3.0, 4.0])
    assert span is not None
    by_metric = {name: of.to_numpy().tolist() for name, of in found.groupby("metric", sort=False)}
    # At step 20 a seed has no finite value.
    assert by_metric["kl"] == [["A", "MoG", "kl", 10, 30.0, 1.5, span.mean, span.lo, span.hi, 3]]
    assert by_metric["tv"] == [["A", "MoG", "tv", 10, 30.0, 100.0, span.mean, span.lo, span.hi, 3]]


def ladder_run(row: str, seed: int, ladder: Any, **summary: Any) -> Run:
    config = OmegaConf.create({"sampler": {"ladder": ladder}})
    return Run(row, "MoG", seed, f"{row}{seed}", "done", config, summary, RunFolder(Path()))


def test_rates_by_rung_are_means_over_seeds_or_those_of_the_pilot() -> None:
    pilot = {"report": {"pilot_ladder": [1.0, 0.6, 0.0], "pilot_rejections": [0.25, 0.5]}}
    tuned = {**pilot, "hyperparameters": {"ladder": [1.0, 0.0]}}
    runs = [
        ladder_run("PT", 0, "auto", tuning=tuned, rungs={"acceptance": [0.5, 0.7], "swap_rate": [0.2]}),
        # The same chains, of which another command measured something else.
        ladder_run("PT", 0, "auto", tuning=tuned, rungs={"acceptance": [0.5, 0.7], "swap_rate": [0.2]}),
        ladder_run("PT", 1, "auto", tuning=tuned, rungs={"acceptance": [0.3, 0.9], "swap_rate": [0.4]}),
        ladder_run("fixed", 0, [1.0, 0.5, 0.0], rungs={"swap_rate": [0.25, 0.75]}),
        ladder_run("learned", 0, "auto", rungs={"acceptance": [0.6, 0.8], "inverse_temperature": [1.0, 0.3]}),
        ladder_run("old", 0, "auto", tuning=pilot),
        ladder_run("DMALA", 0, None),
    ]
    found = rungs(shown(runs))
    assert found.astype(object).where(found.notna(), None).to_numpy().tolist() == [
        ["PT · MoG", "PT", "MoG", "run", 0, 1.0, 0.4, pytest.approx(0.3), 2],
        ["PT · MoG", "PT", "MoG", "run", 1, 0.0, 0.8, None, 2],
        ["fixed · MoG", "fixed", "MoG", "run", 0, 1.0, None, 0.25, 1],
        ["fixed · MoG", "fixed", "MoG", "run", 1, 0.5, None, 0.75, 1],
        ["fixed · MoG", "fixed", "MoG", "run", 2, 0.0, None, None, 1],
        ["learned · MoG", "learned", "MoG", "run", 0, 1.0, 0.6, None, 1],
        ["learned · MoG", "learned", "MoG", "run", 1, 0.3, 0.8, None, 1],
        ["old · MoG (pilot)", "old", "MoG", "pilot", 0, 1.0, None, 0.75, 1],
        ["old · MoG (pilot)", "old", "MoG", "pilot", 1, 0.6, None, 0.5, 1],
        ["old · MoG (pilot)", "old", "MoG", "pilot", 2, 0.0, None, None, 1],
    ]
