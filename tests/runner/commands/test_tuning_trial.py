"""What `--dry-run` says of a pilot: a long one is not run to its end."""

from __future__ import annotations

import pytest

from runner.config.compose import compose
from runner.problem import tuning_cache
from runner.problem.build import Problem, build
from runner.problem.tuning_cache import TRIED_EFFORT, _Tuning, tuning_trial
from samplers.pilot_run import PilotRun


def problem() -> Problem:
    return build(compose(["target=bernoulli4", "sampler=pt_dmala", "metric=tv", "tuning.effort=1"]))


def test_a_short_pilot_is_run_and_of_a_long_one_a_brief_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samplers.pilot_run.BLOCK_STEPS", 10)
    efforts, planned = dict[float, int](), 0
    advance = _Tuning.advance

    def noted(self: _Tuning) -> None:
        nonlocal planned
        advance(self)
        planned = self.total if self.run.effort == 1.0 else planned
        self.seconds = 0.5 * self.position
        efforts[self.run.effort] = self.position

    monkeypatch.setattr(_Tuning, "advance", noted)
    monkeypatch.setattr(tuning_cache, "TRIED_SECONDS", 1e9)
    found, seconds = tuning_trial(problem())
    whole = efforts.pop(1.0)
    assert efforts == {}
    assert seconds == 0.5 * whole
    monkeypatch.setattr(tuning_cache, "TRIED_SECONDS", 12.0)
    brief, estimate = tuning_trial(problem())
    assert efforts == {1.0: 30, TRIED_EFFORT: efforts[TRIED_EFFORT]}
    assert efforts[TRIED_EFFORT] < whole / 2
    assert brief.hyperparameters.keys() == found.hyperparameters.keys()
    # A pilot may end before its plan does, at half a second a step.
    assert seconds < estimate == 0.5 * planned


def test_a_pilot_that_only_the_full_effort_can_end_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    advance = PilotRun.advance

    def refusing(self: PilotRun[object]) -> None:
        if self.effort < 1.0:
            raise ValueError("no step has the acceptance")
        advance(self)

    monkeypatch.setattr(PilotRun, "advance", refusing)
    monkeypatch.setattr(tuning_cache, "TRIED_SECONDS", 1e-9)
    found, seconds = tuning_trial(problem())
    assert found.evaluations > 0
    assert seconds > 0
