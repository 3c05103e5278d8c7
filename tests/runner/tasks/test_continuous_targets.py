"""Targets and samplers on the reals from the command line: what runs, and what is refused in one sentence."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from tests.support.commands import Call, assert_refused, summary

SHORT = ["scale=smoke", "task.steps=60", "task.chains=4", "metric=[acceptance,jump,emc]"]
MIXTURE = "target=gaussian_mixture"
FINE = "metric=[level_occupancy,mean_norm]"
IN_THREE = "target.means=[[0,0,0],[1,2,3]] target.covariance=[0.5,1] target.weights=[0.3,0.7]"


@pytest.mark.parametrize(
    "command",
    [
        f"sampler=mala {MIXTURE}",
        f"sampler=ula {MIXTURE} {IN_THREE}",
        f"sampler=random_walk {MIXTURE} target.covariance=[[1,0.5],[0.5,1]]",
        "sampler=mala target=stmh_two_modes target.start=[10,10]",
        "sampler=ula sampler.step_size=0.01 target=singular_mixture target.d=3",
    ],
)
def test_every_mixture_runs(command: str, call: Call) -> None:
    ended = call(*command.split(), *SHORT)
    assert ended.status == 0, ended.err
    measured = summary()["metrics"]
    assert measured["jump"] > 0
    assert 0 < measured["acceptance"] <= 1
    assert 0 <= measured["emc"] <= 1


@pytest.mark.parametrize("partition", ["inductive", "wang_landau"])
def test_a_fine_ladder_runs(partition: str, call: Call) -> None:
    """STMH's ladder under which the estimates are proved: D = 3 has 11 levels, and each is visited."""
    command = f"sampler=stmh sampler.ladder=fine sampler.partition={partition} sampler.step_size=2.0"
    small = "sampler.pilot.chains=64 sampler.pilot.steps=16 task.chains=200 task.steps=400 task.burn_in=100"
    ended = call(*command.split(), "target=stmh_two_modes", "target.distance=3", *small.split(), FINE)
    assert ended.status == 0, ended.err
    found = summary()
    spread = 1.5**2 + 2 * 2 * (1 + math.log(4.0))  # D^2 + 2 gamma_max d nu, with nu of (C.22)
    ladder = found["tuning"]["hyperparameters"]["ladder"]
    assert len(ladder) == 1 + math.ceil(math.log(1.5**2) / math.log1p(1 / spread)) == 11
    assert max(cold / hot for cold, hot in pairwise(ladder)) <= 1 + 1 / spread
    shares = [found["metrics"][f"level_{level}"] for level in range(11)]
    assert sum(shares) == pytest.approx(1.0)
    assert min(shares) > 0.02
    assert found["metrics"]["level_occupancy_uneven"] == 0
    assert "warning" not in ended.err


def test_levels_visited_unevenly_are_warned_of(call: Call) -> None:
    """With log Z off by 20 nats the chains never leave the hot level; with the right ones they do."""
    command = (
        "target=stmh_two_modes target.distance=2 sampler=stmh sampler.ladder=[1.0,0.6] sampler.step_size=2.0"
    )
    short = "task.steps=300 task.chains=50 metric=[level_occupancy]"
    for wrong, warned in ((20.0, True), (-1.0, False)):
        ended = call(*command.split(), *short.split(), f"sampler.log_partition=[{wrong},0.0]")
        assert ended.status == 0, ended.err
        assert ("warning: seed 0: a level has more than e^2 times an even share" in ended.err) is warned


REFUSED = [
    ("target.weights=[0.3,0.3]", "target.weights must be positive numbers that sum"),
    ("target.covariance=[[1,2],[2,1]]", "target.covariance must be positive definite"),
    ("target.means=[[1,2],[3]]", "target.means must hold numbers in lists of equal"),
    ("target.start=[1,2,3]", "target.start must have 2 coordinates"),
    ("sampler.step_size=0", "sampler.step_size must be a positive number or 'auto'"),
    ("sampler=dmala", "dmala needs a binary, ordinal or categorical space, not Real(d=2)"),
    ("sampler=dula sampler.step_size=1.0", "dula needs a binary, ordinal or categorical space"),
    ("sampler=pt_dmala", "dmala needs a binary, ordinal or categorical space, not Real(d=2)"),
    ("target=mog", "mala needs a real space, not Ordinal"),
    ("target=stmh_two_modes target.distance=-1", "target.distance must be a positive number"),
    ("target=singular_mixture target.epsilon=0", "target.epsilon must be a positive number"),
]


def test_what_cannot_be_is_refused_before_any_work() -> None:
    assert_refused([MIXTURE, "sampler=mala", *SHORT], REFUSED)
