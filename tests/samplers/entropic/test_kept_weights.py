"""Weights of moves in the states of EDMALA: the same bits, one weighing a step, never of another theta_a."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from samplers import EDMALA, EDULA, Kernel, ParallelTempering, State
from samplers.proposals.discrete_langevin import ODDS
from samplers.proposals.entropic_langevin import THETA_A, EntropicLangevin
from targets import Ising, Streams
from tests.support.steps.stepping import ONE, seeded
from tests.support.targets.small_targets import SPACES, random_target

LATTICE = Ising(size=6, coupling=0.5, field=0.2)
EDMALA_HERE = EDMALA(0.6, 0.7, 0.3)


def started(kernel: Kernel, target: Ising, like: Tensor = ONE) -> State:
    """40 chains of each of two seeds, with theta_a drawn."""
    theta = target.initial((2, 40), Streams([0, 1], "start"))
    return kernel.start(target, theta, like, Streams([0, 1], "chain"))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_steps_are_those_of_the_kernel_bit_for_bit(dtype: torch.dtype) -> None:
    target, one = LATTICE.to(dtype), ONE.to(dtype)
    plain = EDMALA_HERE.to(one)
    ends = []
    for kernel in (plain, plain.prepared(target, one)):
        state, streams, said = started(kernel, target, one), Streams([0, 1], "chain"), []
        assert (ODDS in state.aux) is (kernel is not plain)
        for _ in range(40):
            state, info = kernel.step(target, state, one, streams)
            assert set(info.aux) == {THETA_A}
            said.append(info.acceptance)
        ends.append((state, torch.stack(said)))
    assert 0.05 < ends[0][1].mean() < 0.95  # some are rejected, and keep the weights they had
    assert torch.equal(ends[0][0].theta, ends[1][0].theta)
    assert torch.equal(ends[0][0].aux[THETA_A], ends[1][0].aux[THETA_A])
    assert torch.equal(ends[0][1], ends[1][1])


def test_a_step_weighs_one_state(monkeypatch: pytest.MonkeyPatch) -> None:
    weighed, weights = [], EntropicLangevin.weights

    def counting(self: EntropicLangevin, state: State, beta: Tensor) -> Mapping[str, Tensor]:
        weighed.append(state)
        return weights(self, state, beta)

    monkeypatch.setattr(EntropicLangevin, "weights", counting)
    kernel = EDMALA_HERE.prepared(LATTICE, ONE)
    state = started(kernel, LATTICE)
    weighed.clear()
    for _ in range(5):
        state, _ = kernel.step(LATTICE, state, ONE, seeded())
    assert len(weighed) == 5


@pytest.mark.parametrize("how", ["drawn", "refreshed", "replaced"])
def test_weights_follow_theta_a(how: str) -> None:
    """Where it is drawn anew, kept while the rest is evaluated anew, or set, with ``cached_by`` at None."""
    kernel = EDMALA_HERE.prepared(LATTICE, ONE)
    ends = []
    for each in (EDMALA_HERE, kernel):
        state = started(each, LATTICE)
        if how == "drawn":
            state = each.drawn(state, seeded(3))
        elif how == "refreshed":
            state = each.refreshed(LATTICE, state, ONE)
        else:
            aux = {**state.aux, THETA_A: 1.0 - state.aux[THETA_A]}
            state = replace(state, aux=aux, cached_by=None)
        ends.append(each.step(LATTICE, state, ONE, Streams([0, 1], "chain")))
    assert torch.equal(ends[0][0].theta, ends[1][0].theta)
    assert torch.equal(ends[0][1].acceptance, ends[1][1].acceptance)


def test_the_weights_of_another_state_would_be_no_distribution() -> None:
    """The mutant: with weights of another theta_a the probabilities do not sum to 1."""
    target = random_target(SPACES["binary"], seed=3)
    kernel = EDMALA_HERE.prepared(target, ONE)
    assert isinstance(kernel, EDMALA)
    state = kernel.start(target, target.space.states(), ONE, seeded())
    stale = replace(state, aux={**kernel.drawn(state, seeded(5)).aux, THETA_A: state.aux[THETA_A]})
    away = []
    for source in (state, stale):
        gap = source.theta - source.aux[THETA_A]
        rows = [
            kernel.proposal.log_prob(target.space, source, gap, end.expand_as(gap), ONE, source.aux).exp()
            for end in source.theta
        ]
        away.append((torch.stack(rows).sum(0) - 1.0).abs().max())
    assert away[0] < 1e-12 < 1e-3 < away[1]


def test_another_inverse_temperature_is_refused() -> None:
    kernel = EDMALA_HERE.prepared(LATTICE, ONE)
    assert isinstance(kernel, EDMALA)
    state, other = started(kernel, LATTICE), 0.5 * ONE
    expected = r"^beta must be the inverse temperature that the kernel was prepared"
    with pytest.raises(ValueError, match=expected):
        kernel.step(LATTICE, state, other, seeded())
    with pytest.raises(ValueError, match=expected):
        kernel.log_acceptance(LATTICE.space, state, state, other)


def test_only_accepted_moves_of_bits_at_one_temperature_keep_weights() -> None:
    class OwnStep(EDMALA):
        def step(self, target, state, beta, generator):  # type: ignore[no-untyped-def]
            return super().step(target, state, beta, generator)

    class OwnDraw(EDMALA):
        def drawn(self, state, generator):  # type: ignore[no-untyped-def]
            return replace(state, aux={**state.aux, THETA_A: state.theta})

    ladder = ParallelTempering(EDMALA_HERE, [1.0, 0.5])
    assert ladder.prepared(LATTICE, ONE) is ladder
    assert EDMALA_HERE.prepared(random_target(SPACES["categorical"]), ONE) is EDMALA_HERE
    for kernel in (EDULA(0.6, 0.7, 0.3), OwnStep(0.6, 0.7, 0.3), OwnDraw(0.6, 0.7, 0.3)):
        assert kernel.prepared(LATTICE, ONE) is kernel


@pytest.mark.parametrize("kernel", [EDMALA_HERE, EDULA(0.6, 0.7, 0.3), EDMALA_HERE.prepared(LATTICE, ONE)])
def test_a_state_without_theta_a_is_refreshed(kernel: Kernel) -> None:
    """As the chains of contrastive divergence are, which begin at other states each time."""
    state = started(kernel, LATTICE)
    anew = kernel.refreshed(LATTICE, replace(state, aux={}, cached_by=None), ONE)
    assert torch.equal(anew.aux[THETA_A], state.theta)
    kernel.step(LATTICE, anew, ONE, seeded())
