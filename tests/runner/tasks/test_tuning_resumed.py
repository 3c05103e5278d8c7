"""Tuning is work like any other: it shows where it is, can be stopped, and says what it cost."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from runner.config.compose import compose
from runner.execution import progress, signals
from runner.files.checkpoint import load_checkpoint
from runner.models.recipe import recipe_of
from runner.problem.tuning_cache import _Tuning
from runner.tasks.run_identity import run_ids
from tests.support.commands import Call, one, refusal, stop_after, summary

RUN = ("target=bernoulli4", "sampler=pt_dmala", "metric=tv", "task.steps=20", "task.chains=3", "scale=smoke")
FULL = ("tuning.effort=1",)


def tuned(root: str = "outputs") -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(one("artefacts/*.json", root).read_text())
    return found


def test_an_interrupted_pilot_goes_on_where_it_was(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samplers.pilot_run.BLOCK_STEPS", 10)
    call(*RUN, *FULL, "output_root=whole")
    whole, seen = tuned("whole"), []
    advance = _Tuning.advance

    def noted(self: _Tuning) -> None:
        advance(self)
        seen.append(self.position)

    monkeypatch.setattr(_Tuning, "advance", noted)
    for blocks in (1, 4):
        with monkeypatch.context() as patched:
            stop_after(patched, _Tuning, blocks)
            stopped = call(*RUN, *FULL)
        assert stopped.status == 75
        assert stopped.err.endswith("Stopped by SIGTERM; repeat the command to continue.\n")
        signals.forget()
        assert load_checkpoint(one("artefacts/*.pt"))["tuning"] == one("artefacts/*.pt").stem
        assert not list(Path("outputs").glob("artefacts/*.json"))
    assert call(*RUN, *FULL).status == 0
    assert seen == sorted(set(seen)), "a part of the pilot was done twice"
    found = tuned()
    assert found["trace"] == whole["trace"]
    assert {**found["hyperparameters"], "evaluations": found["evaluations"]} == {
        **whole["hyperparameters"],
        "evaluations": whole["evaluations"],
    }
    assert not list(Path("outputs").glob("artefacts/*.pt"))


def test_without_a_terminal_lines_say_where_a_pilot_is(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samplers.pilot_run.BLOCK_STEPS", 10)
    assert call(*RUN, "seed=1").err == "", "nothing is said of what is short"
    for name in ("FIRST_SECONDS", "PLAIN_SECONDS"):
        monkeypatch.setattr(progress, name, 0.0)
    lines = call(*RUN, *FULL, "seed=2").err.splitlines()
    assert lines[0] == "checking the jobs: 0 of 1"
    tuning = r"tuning pt_dmala to bernoulli4: [\d,]+ of [\d,]+, about .* left"
    assert sum(re.fullmatch(tuning, line) is not None for line in lines) >= 3
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 1e9)
    assert len(call(*RUN, "seed=3").err.splitlines()) == 1


def test_on_a_terminal_a_bar_shows_where_each_stage_is(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checking, training, reference sample, tuning, the run: each with its count and the time left."""
    shown: list[tuple[str, int]] = []
    start = progress.Progress.start

    def noted(self: progress.Progress, title: str, steps: int, step: int) -> None:
        start(self, title, steps, step)
        shown.append((title, steps))
        assert self._bars is not None
        assert self._job is not None
        columns = [type(column).__name__ for column in self._bars.columns]
        assert {"BarColumn", "MofNCompleteColumn", "TimeElapsedColumn"} <= set(columns)
        assert self._bars.tasks[-1].fields == {"rate": "", "left": ""}

    monkeypatch.setattr(progress.Progress, "start", noted)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    rbm = ("target=rbm", "target.dataset=digits", "target.n_hidden=4", "target.training.iterations=3")
    chains = ("target.ground_truth.steps=10", "target.ground_truth.chains=20", "target.ground_truth.keeps=1")
    assert call(*rbm, *chains, "sampler=dmala", "scale=smoke", "task.steps=20", "metric=jump").status == 0
    assert [title.split(" on ")[0] for title, _ in shown] == [
        "checking the jobs",
        "training rbm",
        "reference sample of digits",
        "tuning dmala to rbm/digits",
        "rbm/digits / dmala, 1 seed",
    ]


def test_what_a_pilot_cost_is_said_with_the_result(call: Call) -> None:
    said = call(*RUN).out
    cost = tuned()
    assert f"20 steps in {summary()['seconds']:.2f} s, tuning {cost['seconds']:.1f} s " in said
    assert f"({cost['evaluations']:,} evaluations a chain)" in said
    assert summary()["tuning"]["evaluations"] == cost["evaluations"]
    assert "tuning" not in call("target=bernoulli4", "sampler=gibbs", "task.steps=20", "metric=tv").out


def test_pilots_scale_with_the_scale(call: Call) -> None:
    """At `smoke` a pilot of PT-DMALA spent 10,900 evaluations of the target where the run spends 600."""
    call("target=mog", "sampler=pt_dmala", "scale=smoke", "metric=tv")
    smoke = tuned()["evaluations"]
    assert smoke <= summary()["evaluations"]
    call("target=mog", "sampler=pt_dmala", "scale=smoke", "metric=tv", "tuning.effort=1", "output_root=full")
    assert smoke < 0.5 * tuned("full")["evaluations"]


def ids(*overrides: str) -> dict[int, str]:
    return run_ids(compose(["scale=smoke", *overrides]), "cpu", [0])


@pytest.mark.parametrize(
    "sampler",
    [
        "sampler=gibbs",
        "sampler=random_walk",
        "sampler=dmala sampler.step_size=0.3",
        "sampler=pt_gibbs sampler.ladder=[1,0.5,0]",
        "sampler=pt_dmala sampler.ladder=[1,0.5] sampler.step_size=[0.2,0.3]",
        "sampler=acs sampler.step_size=1 sampler.min_step_size=0.2 sampler.balancing=0.6",
        "task=learn target=rbm target.dataset=digits sampler=rbm_gibbs",
        "task=spectral_gap task.method=ld target=singular_mixture",
    ],
)
def test_where_nothing_is_tuned_the_effort_is_no_part_of_a_run(sampler: str) -> None:
    words = sampler.split()
    assert ids(*words) == ids(*words, "tuning.effort=1")


@pytest.mark.parametrize(
    "sampler",
    [
        "sampler=dmala",
        "sampler=pt_gibbs",
        "sampler=pt_gibbs sampler.ladder=auto sampler.replicas=3",
        "sampler=pt_dmala sampler.ladder=[1,0.5]",
        "sampler=pt_dmala sampler.ladder=[1,0.5] sampler.step_size=null",
        "sampler=acs sampler.step_size=1 sampler.min_step_size=0.2",
        "sampler=stmh target=stmh_two_modes",
        "task=learn target=rbm target.dataset=digits sampler=dmala",
        "target=rbm target.dataset=digits sampler=gibbs "
        "target.training.sampler._target_=samplers.discrete.dmala.DMALA",
    ],
)
def test_where_something_is_tuned_it_is_a_part_of_the_run(sampler: str) -> None:
    words = sampler.split()
    assert ids(*words) != ids(*words, "tuning.effort=1")


def test_a_model_belongs_to_its_pilots_only_where_its_sampler_is_tuned() -> None:
    def model_id(*overrides: str) -> str:
        return recipe_of(compose(["target=rbm", "target.dataset=digits", *overrides])).model_id

    open_sampler = "target.training.sampler._target_=samplers.discrete.dmala.DMALA"
    assert model_id() == model_id("tuning.effort=0.5")
    assert model_id(open_sampler) != model_id(open_sampler, "tuning.effort=0.5")


@pytest.mark.parametrize("effort", ["0", "-1", "101", "many", "null", "true"])
def test_an_effort_that_is_none_is_refused(effort: str) -> None:
    said = refusal("target=bernoulli4", "sampler=gibbs", f"tuning.effort={effort}")
    assert said.startswith("tuning.effort must be a number above 0 and at most 100, ")
