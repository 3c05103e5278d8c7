"""How long a pilot walks before it counts: autocorrelation times against theory, and forgotten starts."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from samplers import GaussianWalk, SimulatedTempering
from samplers.tempering.simulated.burn_in import burn_in, estimated_autocorrelation_time
from samplers.tempering.simulated.partition_functions import PartitionPilot, inductive
from samplers.tempering.simulated.stmh_ladder import mixture_of, stmh_ladder
from targets import GaussianMixture, Streams, stmh_two_modes
from tests.support.steps.stepping import ONE
from tests.support.targets.quadrature import level_partitions
from tests.support.tunable import piloted


def autoregression(steps: int, chains: int, persistence: float) -> Tensor:
    """x' = a x + noise, stationary: its autocorrelation time is (1 + a) / (1 - a)."""
    noise = torch.randn((steps, chains), generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    rows = [noise[0]]
    for each in noise[1:]:
        rows.append(persistence * rows[-1] + math.sqrt(1 - persistence**2) * each)
    return torch.stack(rows)


@pytest.mark.parametrize("persistence", [0.0, 0.5, 0.9, 0.98])
def test_the_autocorrelation_time_of_an_autoregression(persistence: float) -> None:
    """Within a tenth: what the window leaves out is 1 %, and the standard error of 256 chains at most 2 %."""
    expected = (1 + persistence) / (1 - persistence)
    series = autoregression(2_000, 256, persistence).double()
    assert estimated_autocorrelation_time(series + 7.0) == pytest.approx(expected, rel=0.1)
    # A large constant, as the log density of many data has, is no sign that nothing moves.
    assert estimated_autocorrelation_time(series + 1e8) == pytest.approx(expected, rel=0.1)


def test_chains_that_stay_where_they_are_never_forget() -> None:
    places = torch.arange(50.0).expand(100, 50)
    assert estimated_autocorrelation_time(places) == math.inf
    late = torch.where(torch.arange(100).unsqueeze(-1) < torch.arange(50) * 20, 0.0, 1.0)
    assert estimated_autocorrelation_time(late) == math.inf
    assert math.isnan(estimated_autocorrelation_time(torch.full((100, 50), 3.3)))
    rounded = 1e4 + 1e-3 * (torch.arange(5_000.0) % 2)  # to one spacing of float32
    assert math.isnan(estimated_autocorrelation_time(rounded.reshape(100, 50)))


def test_a_burn_in_is_as_long_as_it_was_asked_to_be() -> None:
    """A normal distribution in two dimensions and a proposal of a third of its width."""
    target = GaussianMixture([[0.0, 0.0]], start=[30.0, 30.0]).double()
    chain = SimulatedTempering(GaussianWalk(0.4), [1.0, 0.5], [0.0, 0.0])
    streams = Streams([0], "test")
    state = chain.init(target, target.initial((1, 400), streams), ONE)
    found = piloted(lambda run: burn_in(run, chain, state, first=10, times=5.0), target, streams)
    assert found.steps >= 5.0 * found.autocorrelation_time > 100.0
    assert found.evaluations == found.steps
    # Five standard errors of the mean of 400 chains of standard deviation at most the root of 2: 6e-7.
    assert (found.state.theta.mean((0, 1)).abs() <= 5.0 * math.sqrt(2.0 / 400)).all()
    none = piloted(lambda run: burn_in(run, chain, state, first=10, times=0.0), target, streams)
    assert none.steps == 10


def test_chains_that_do_not_move_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    target = GaussianMixture([[0.0]], start=[3.0]).double()
    chain = SimulatedTempering(GaussianWalk(1e9), [1.0, 0.5], [0.0, 0.0])
    streams = Streams([0], "test")
    state = chain.init(target, target.initial((1, 8), streams), ONE)
    monkeypatch.setattr("samplers.tempering.simulated.burn_in.LONGEST", (300, 100))
    with pytest.raises(ValueError, match="had not forgotten their start after 400 steps") as error:
        piloted(lambda run: burn_in(run, chain, state, first=4, times=5.0), target, streams)
    assert "\n" not in str(error.value)


def test_a_target_that_is_not_finite_is_refused() -> None:
    target = GaussianMixture([[0.0]]).double()
    chain = SimulatedTempering(GaussianWalk(1.0), [1.0, 0.5], [0.0, 0.0])
    streams = Streams([0], "test")
    state = chain.init(target, target.initial((1, 8), streams), ONE)
    target.log_prob = lambda theta: theta.sum(-1) * math.nan  # type: ignore[method-assign]
    state.log_prob.fill_(math.nan)
    with pytest.raises(ValueError, match="NaN or infinite"):
        piloted(lambda run: burn_in(run, chain, state, first=4, times=5.0), target, streams)


def test_a_pilot_forgets_where_it_starts() -> None:
    """From (10, 10), far out in one of two modes 5 apart; 5 standard errors at each of 4 levels: 2.4e-6.

    Without the burn-in the estimates are off by more than ten of them.
    """
    target = stmh_two_modes(5.0, start=[10.0, 10.0])
    betas = stmh_ladder(mixture_of(target))
    chain = SimulatedTempering(GaussianWalk(1.0), betas, [0.0] * 5, step_size=2.5).to(ONE)
    exact = level_partitions(target, torch.tensor(betas), half=45.0)

    def worst(times: float) -> float:
        pilot = PartitionPilot(chains=600, steps=20, burn_in=times)
        found = piloted(lambda run: inductive(run, chain, pilot), target, Streams([3], "test"))
        error = torch.tensor(found.log_partition) - (exact - exact[-1])
        return float((error.abs() / torch.tensor(found.standard_error)).nan_to_num(0.0).max())

    assert worst(5.0) <= 5.0
    assert worst(0.0) > 10.0
