"""What a sampler of one's own does wrong only after the step that is tried fails its run, and names it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runner.problem.last_states import _step
from runner.sweep.jobs import requested
from tests.support.commands import Call

KERNELS = """
from dataclasses import replace

from samplers import RandomWalk

CALLS = 0


class Late(RandomWalk):
    '''A random walk, until it does what it is told.'''

    def __init__(self, does="nothing"):
        super().__init__()
        self.does = does

    def step(self, target, state, beta, generator):
        global CALLS
        CALLS += 1
        after, info = super().step(target, state, beta, generator)
        if CALLS > 50 and "leaves" in self.does:
            theta = after.theta.clone()
            theta[..., "second" in self.does :, :, 0] = 2.0
            after = replace(after, theta=theta)
        if CALLS > 50 and self.does == "is stale":
            after = replace(after, log_prob=after.log_prob + 1.0)
        if CALLS > 50 and self.does == "divides":
            info = replace(info, acceptance=info.acceptance * float("nan"))
        return after, info
"""

RUN = "target=ising target.size=3 metric=jump task.steps=100 task.burn_in=0 task.chains=4"
OWN = "sampler._target_=late_kernels.Late"


@pytest.fixture(autouse=True)
def _kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "late_kernels.py").write_text(KERNELS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "late_kernels", raising=False)


@pytest.mark.parametrize("tempering", ["tempering=none", "tempering=parallel tempering.ladder=[1,0.5]"])
@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("leaves", "late_kernels.Late.step must stay in the space Binary(d=9, levels=2), it went to [2.0,"),
        (
            "is stale",
            "late_kernels.Late.step must give the log density of its new theta as the state's log_prob",
        ),
    ],
)
def test_a_run_that_ends_in_the_wrong_place_has_failed(
    call: Call, does: str, said: str, tempering: str
) -> None:
    ended = call(*RUN.split(), OWN, f"+sampler.does={does}", *tempering.split())
    assert ended.status == 1
    assert said in ended.err
    assert "; this was found in the last states of seed 0." in ended.err


@pytest.mark.parametrize(
    ("sampler", "step"),
    [
        ("sampler._target_=a.Kernel", "a.Kernel.step"),
        ("sampler=pt_gibbs sampler.kernel._target_=a.Kernel", "a.Kernel.step"),
        ("sampler=gibbs tempering=parallel tempering._target_=a.Ladder", "a.Ladder.step"),
        (
            "sampler=pt_gibbs sampler.swap._target_=a.Swap",
            "samplers.tempering.parallel_tempering.ParallelTempering.step with a.Swap",
        ),
    ],
)
def test_whose_step_it_was_is_named(sampler: str, step: str) -> None:
    (config,) = requested(["target=bernoulli4", *sampler.split()], multirun=False).configs
    assert _step(config) == step


def test_only_the_seed_that_is_wrong_has_failed(call: Call) -> None:
    ended = call("-m", *RUN.split(), OWN, "+sampler.does=the second leaves", "seed=0,1")
    assert ended.out.endswith("\n1 run done, 1 failed.\n")
    assert "in the last states of seed 1." in ended.err


def test_an_acceptance_that_is_no_number_may_be_the_samplers(call: Call) -> None:
    ended = call(*RUN.split(), OWN, "+sampler.does=divides")
    assert ended.status == 1
    assert "gave NaN or infinity as a log density by step " in ended.err
    assert " (seed 0), or the sampler gave NaN as Info.acceptance.\n" in ended.err


def test_a_run_that_ends_where_it_should_is_done(call: Call) -> None:
    assert call(*RUN.split(), OWN).status == 0
