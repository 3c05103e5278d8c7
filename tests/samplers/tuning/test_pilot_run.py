"""A pilot that is cut short and taken up finds what one in a single stretch finds, whatever it tunes."""

from __future__ import annotations

import io
from typing import Any

import pytest
import torch

from samplers import (
    AB,
    ACS,
    DMALA,
    EDMALA,
    MALA,
    GaussianWalk,
    Gibbs,
    ParallelTempering,
    ReplicaExchangeLangevin,
    SimulatedTempering,
    Tunable,
)
from samplers.pilot_run import PilotRun, Steps, Values
from samplers.tempering.simulated.partition_functions import PartitionPilot
from samplers.tuning.tunable import TuningResult
from targets import GaussianMixture, Streams, Target, stmh_two_modes
from tests.support.steps.stepping import seeded
from tests.support.targets.small_targets import small_rbm
from tests.support.tunable import tunable

RBM_TARGET = small_rbm()
TWO = GaussianMixture([[-2.0], [2.0]])
SMALL = PartitionPilot(chains=32, steps=20)
PILOTS: dict[str, tuple[Tunable, Target]] = {
    "step size": (tunable(DMALA), RBM_TARGET),
    "step size of an entropic kernel": (tunable(EDMALA, eta=0.5), RBM_TARGET),
    "ladder": (tunable(ParallelTempering, Gibbs()), RBM_TARGET),
    "ladder and step sizes": (tunable(ParallelTempering, tunable(DMALA)), RBM_TARGET),
    "step sizes of a ladder": (tunable(ParallelTempering, tunable(DMALA), ladder=[1.0, 0.4]), RBM_TARGET),
    "balancing": (tunable(AB), RBM_TARGET),
    "cycle": (tunable(ACS, cycle_length=6), RBM_TARGET),
    "time step": (tunable(ReplicaExchangeLangevin, MALA(1.0), ladder=[1.0, 0.3]), TWO),
    "levels": (
        tunable(SimulatedTempering, tunable(DMALA), partition="wang_landau", pilot=SMALL),
        RBM_TARGET,
    ),
    "partition functions": (
        tunable(SimulatedTempering, GaussianWalk(1.0), ladder="coarse", step_size="stmh", pilot=SMALL),
        stmh_two_modes(4.0).double(),
    ),
}
EFFORT = 0.1


def run_of(name: str) -> PilotRun[TuningResult]:
    sampler, target = PILOTS[name]
    return PilotRun(sampler.tuning, target, Streams([0], "tuning"), EFFORT)


def through_a_file(saved: dict[str, Any]) -> dict[str, Any]:
    """As a checkpoint does it: nothing but tensors, numbers, texts, lists and dictionaries."""
    buffer = io.BytesIO()
    torch.save(saved, buffer)
    buffer.seek(0)
    found: dict[str, Any] = torch.load(buffer, weights_only=True)
    return found


@pytest.mark.parametrize("name", PILOTS)
def test_cut_short_it_finds_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run_of(name)
    expected = whole.to_end()
    monkeypatch.setattr("samplers.pilot_run.BLOCK_STEPS", whole.position // 7)
    run, cuts = run_of(name), 0
    while not run.done:
        run.advance()
        if not run.done:
            position, saved = run.position, through_a_file(run.state_dict())
            run, cuts = run_of(name), cuts + 1
            run.load_state_dict(saved)
            assert run.position > position or run.done
    assert cuts >= 3
    assert run.result == expected


@pytest.mark.parametrize("name", PILOTS)
def test_its_steps_are_counted_against_what_is_planned(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samplers.pilot_run.BLOCK_STEPS", 1)
    run, before = run_of(name), 0
    planned = []
    while not run.done:
        run.advance()
        assert run.position in (before, before + 1)
        assert run.position <= run.total
        before = run.position
        planned.append(run.total)
    assert run.position == run.total > 20
    if name not in ("levels", "partition functions"):  # the length of whose burn-ins nobody knows
        assert planned == sorted(planned, reverse=True)


@pytest.mark.parametrize("name", ["step size", "ladder and step sizes", "balancing"])
def test_less_effort_costs_less(name: str) -> None:
    sampler, target = PILOTS[name]
    least, full = (sampler.tune(target, Streams([0], "tuning"), effort).evaluations for effort in (0.01, 1.0))
    assert least < 0.4 * full


def walking(target: Target, run: PilotRun[TuningResult]) -> Steps[TuningResult]:
    def step(values: Values) -> bool:
        values["sum"] += torch.rand((), generator=run.generator).item()  # type: ignore[arg-type]
        return values["steps"] == 4

    run.planned = 30
    first = yield from run.walk(lambda: {"sum": 0.0}, step, 10)
    second = yield from run.walk(lambda: {"sum": first["sum"]}, step, 20)
    return TuningResult({"sum": second["sum"]}, second["steps"])


def test_a_walk_ends_where_its_step_says_so() -> None:
    run = PilotRun(walking, RBM_TARGET, seeded(0))
    assert run.to_end().evaluations == 5
    assert run.position == run.total == 10


def test_the_state_of_another_pilot_is_refused() -> None:
    saved = PilotRun(walking, RBM_TARGET, seeded(0))
    saved._steps.send(None)
    with pytest.raises(Exception, match=r"another walk|generators"):
        run_of("step size").load_state_dict(saved.state_dict())
