"""A kernel of one's own is tried before a run where some of its hyperparameters are left to tuning, too."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.commands import Call, refused

KERNELS = """
from dataclasses import replace

from samplers import DMALA


class Shifted(DMALA):
    '''DMALA whose log densities are off by `by`; unless `example`, not at the step size 1.'''

    def __init__(self, step_size, by=1.0, example=False):
        super().__init__(step_size)
        self.by = 0.0 if isinstance(step_size, float) and step_size == 1.0 and not example else by

    def step(self, target, state, beta, generator):
        after, info = super().step(target, state, beta, generator)
        return replace(after, log_prob=after.log_prob + self.by), info


class Tempered(DMALA):
    '''DMALA that keeps a log density times beta.'''

    def init(self, target, theta, beta):
        state = super().init(target, theta, beta)
        return replace(state, aux={"kept": beta * state.log_prob})

    def step(self, target, state, beta, generator):
        after, info = super().step(target, state, beta, generator)
        return replace(after, aux={"kept": beta * after.log_prob}), info
"""

SHIFTED = (
    "target=bernoulli4 metric=tv task.steps=20 sampler._target_=two_kernels.Shifted sampler.step_size=auto"
)
OFF = "error: sampler: Shifted.step must give the log density of its new theta as the state's log_prob"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "two_kernels.py").write_text(KERNELS)
    monkeypatch.syspath_prepend(str(tmp_path / "home"))
    monkeypatch.delitem(sys.modules, "two_kernels", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a refused command leaves no other file


def test_before_it_is_tuned(call: Call) -> None:
    assert refused(call, SHIFTED, "+sampler.example=true").startswith(OFF)


def test_inside_a_ladder_before_it_is_tuned(call: Call) -> None:
    run = "target=bernoulli4 metric=tv task.steps=20 sampler._target_=two_kernels.Tempered"
    assert "give a State.aux that does not depend on beta" in refused(call, run, "tempering=parallel")


def test_with_the_numbers_of_its_tuning(call: Call) -> None:
    ended = call(*SHIFTED.split())
    assert (ended.status, OFF.removeprefix("error: ") in ended.err) == (1, True), ended.err
    assert call(*SHIFTED.split(), "+sampler.by=0").status == 0
