"""Tuned hyperparameters are a result of their own: found once and shared, the same in every process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from runner import load_runs
from runner.execution.reached import duration
from tests.support.commands import Call, summary

SMALL = ("target=bernoulli4", "metric=tv", "task.steps=20", "task.chains=3")


def tuning_results(root: Path) -> dict[str, dict[str, Any]]:
    return {path.stem: json.loads(path.read_text()) for path in root.glob("artefacts/*.json")}


def test_the_runs_of_a_sweep_share_one(call: Call) -> None:
    assert call("-m", *SMALL, "sampler=dmala", "seed=[0],[1],[2,3]").status == 0
    ((name, result),) = tuning_results(Path("outputs")).items()
    for path in Path("outputs/runs").glob("*/summary.json"):
        tuning = json.loads(path.read_text())["tuning"]
        assert tuning["artefact"] == name
        assert tuning["hyperparameters"] == result["hyperparameters"]
        assert tuning["seconds"] == result["seconds"] > 0
        assert tuning["evaluations"] > 0
        assert {"report", "seconds"} <= set(tuning)


def test_a_step_size_out_of_reach_is_warned_of_by_every_command_that_uses_it(call: Call) -> None:
    narrow = ("target=gaussian_mixture", "target.means=[[0,0,0]]", "target.covariance=1e-8", "sampler=mala")
    for seed in range(2):
        ended = call(*narrow, "task.steps=20", "task.chains=3", f"seed={seed}")
        assert ended.err.count("warning: tuning mala to gaussian_mixture: no step size from 0.0001") == 1
    (result,) = tuning_results(Path("outputs")).values()
    assert result["report"]["reached_acceptance"] == [pytest.approx(0.0, abs=0.05)]


DIGITS = (
    *("target=rbm", "target.dataset=digits", "target.n_hidden=4", "target.training.iterations=5"),
    *("target.ground_truth.steps=10", "target.ground_truth.keeps=2", "target.ground_truth.chains=10"),
    *("sampler=dmala", "scale=smoke", "task.samples=130", "task.chains=20", "task.thinning=4"),
)


@pytest.mark.parametrize(
    "task",
    [
        ("task=spectral_gap", "target=bernoulli4", "sampler=st_dmala", "scale=smoke"),
        ("task=classify", "task.classifier.epochs=1", *DIGITS),
        ("task=autoencode", "task.autoencoder.networks=1", "task.autoencoder.epochs=1", *DIGITS),
    ],
)
def test_tasks_that_compute_each_seed_on_its_own_tell_of_their_tuning(
    call: Call, task: tuple[str, ...]
) -> None:
    """Also the second one, which finds it; it is in the seconds of none."""
    said = call(*task, "seed=0").out
    ((name, result),) = tuning_results(Path("outputs")).items()
    found = summary()
    assert found["tuning"]["artefact"] == name
    assert found["tuning"]["hyperparameters"] == result["hyperparameters"]
    assert f"({result['evaluations']:,} evaluations a chain)" in said
    assert call(*task, "seed=1").status == 0
    runs = load_runs()
    assert len(runs) == 2
    assert runs["tuned.step_size"].notna().all()
    if "sampler=st_dmala" in task:
        assert runs["seconds"].max() < result["seconds"]
        assert found["wall_seconds"] < result["seconds"]


def test_another_process_finds_the_same(call: Call) -> None:
    for root in ("one", "two"):
        call(*SMALL, "sampler=pt_dmala", "seed=5", f"output_root={root}")
    one, two = (tuning_results(Path(root)) for root in ("one", "two"))
    assert [found["hyperparameters"] for found in one.values()] == [
        found["hyperparameters"] for found in two.values()
    ]
    assert len(next(iter(one.values()))["hyperparameters"]["ladder"]) >= 2


def test_what_every_round_tried_is_kept(call: Call) -> None:
    """The ladder follows from the rejections of its last round, and each step size from those tried."""
    assert call(*SMALL, "sampler=pt_dmala", "scale=smoke").status == 0
    (found,) = tuning_results(Path("outputs")).values()
    assert "trace" not in summary()["tuning"], "it is large, and belongs to the tuning"
    trace = pd.DataFrame(found["trace"])
    rounds = trace[trace.stage == "ladder"].groupby("round")
    assert rounds.rejection.sum().tolist() == pytest.approx(found["report"]["barrier_by_round"])
    last = rounds.get_group(int(trace[trace.stage == "ladder"]["round"].max()))
    assert [*last.beta, last.next_beta.iloc[-1]] == found["report"]["pilot_ladder"]
    assert last.rejection.tolist() == found["report"]["pilot_rejections"]
    tuned = found["hyperparameters"]
    for beta, size in zip(tuned["ladder"], tuned["step_size"], strict=True):
        tried = trace[(trace.stage == "step sizes") & np.isclose(trace.beta, beta)]
        assert tried.step_size.min() * 0.999 <= size <= tried.step_size.max() * 1.001
        assert tried.acceptance.between(0, 1).all()


def test_the_rounds_of_a_cycle_are_kept_too(call: Call) -> None:
    assert call(*SMALL, "sampler=acs", "scale=smoke").status == 0
    (found,) = tuning_results(Path("outputs")).values()
    trace = pd.DataFrame(found["trace"])
    assert set(trace.stage) == {"smallest step size", "largest step size", "balancing"}
    assert (
        found["hyperparameters"]["step_size"] in trace[trace.stage == "largest step size"].step_size.tolist()
    )


def test_nothing_is_tuned_where_all_is_given(call: Call) -> None:
    call(*SMALL, "sampler=dmala", "sampler.step_size=1")
    assert not tuning_results(Path("outputs"))
    assert summary()["tuning"] is None


def test_a_duration_is_said_as_people_say_it() -> None:
    said = [duration(seconds) for seconds in (0.04, 9.96, 42.4, 200, 7500)]
    assert said == ["0.0 s", "10.0 s", "42 s", "3 min 20 s", "2 h 5 min"]
