"""The task `log_partition`: estimates against exact values, stopped and continued, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from metrics.likelihood.population_annealing import PopulationAnnealing
from runner.execution import signals
from tests.support.commands import Call, earlier_attempts_take, measured, refusal, rows, stop_after, summary

GIVEN = "target=ising target.size=[4,4] target.coupling=0.3 sampler=gibbs task.temperatures=40"
RUN = ["task=log_partition", *GIVEN.split(), "task.chains=150", "task.repeats=4", "task.sweeps=2"]


@pytest.mark.parametrize("method", ["population", "ais"])
def test_log_z_is_near_the_exact_one(call: Call, method: str) -> None:
    assert call(*RUN, f"task.method={method}").status == 0
    found = measured()
    assert found["log_z_error"] == pytest.approx(found["log_z"] - found["log_z_exact"])
    assert abs(found["log_z_error"]) < 0.15
    assert found["log_z_repeats_low"] < found["log_z"] < found["log_z_repeats_high"]
    assert (found["families"] == 150) is (method == "ais")


def test_a_run_that_was_stopped_goes_on_with_the_same_numbers(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call(*RUN, "output_root=whole").status == 0
    with monkeypatch.context() as patch:
        stop_after(patch, PopulationAnnealing, 3)
        assert call(*RUN).status != 0
    signals.forget()
    assert list(Path("outputs").rglob("checkpoint*"))
    earlier_attempts_take(monkeypatch, 1000.0)
    assert call(*RUN).status == 0
    assert rows("outputs") == rows("whole")
    assert summary()["wall_seconds"] >= summary()["seconds"] > 1000.0


REFUSED = [
    ("task.method=bridge", "task.method must be one of ais, population, 'bridge' was given."),
    ("task.chains=1", "task.chains must be a whole number of at least 2, 1 was given."),
    ("task.threshold=2", "task.threshold must be a number from 0 to 1, 2 was given."),
    ("task.temperatures=1", "task.temperatures must be a whole number of at least 2 or a schedule"),
    ("task.schedule=cosine", "task.schedule must be one of linear, pieces, sigmoid, 'cosine' was given."),
    (
        "sampler=dmala",
        "sampler: annealing needs an exact kernel on single states with given hyperparameters, DMALA",
    ),
    ("sampler=dula sampler.step_size=0.2", "DULA has transitions that do not leave the target invariant"),
    ("target=tsp", "tsp"),
    (
        "target._target_=tests.support.annealing.FromMeans +target.mean=[0,0.5,0.5,0.5]",
        "target: annealing starts from the data_mean of FromMeans, which must lie between 0 and 1 at each "
        "bit, 0 was given.",
    ),
    (
        "target=rbm",
        "task=log_partition needs a target that is not learned, target=rbm was given; task=evaluate",
    ),
]


@pytest.mark.parametrize(("given", "sentence"), REFUSED, ids=[given for given, _ in REFUSED])
def test_what_cannot_be_estimated_is_refused(call: Call, given: str, sentence: str) -> None:
    base = "task=log_partition target=bernoulli4 sampler=gibbs"
    assert sentence.lower() in refusal(base, given).lower()
