"""Tuned hyperparameters are a result of their own: found once and shared, the same in every process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runner.execution.progress import duration
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


def test_another_process_finds_the_same(call: Call) -> None:
    for root in ("one", "two"):
        call(*SMALL, "sampler=pt_dmala", "seed=5", f"output_root={root}")
    one, two = (tuning_results(Path(root)) for root in ("one", "two"))
    assert [found["hyperparameters"] for found in one.values()] == [
        found["hyperparameters"] for found in two.values()
    ]
    assert len(next(iter(one.values()))["hyperparameters"]["ladder"]) >= 2


def test_nothing_is_tuned_where_all_is_given(call: Call) -> None:
    call(*SMALL, "sampler=dmala", "sampler.step_size=1")
    assert not tuning_results(Path("outputs"))
    assert summary()["tuning"] is None


def test_a_duration_is_said_as_people_say_it() -> None:
    said = [duration(seconds) for seconds in (0.04, 9.96, 42.4, 200, 7500)]
    assert said == ["0.0 s", "10.0 s", "42 s", "3 min 20 s", "2 h 5 min"]
