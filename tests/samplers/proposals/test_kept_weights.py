"""Weights that stay in the states: the same bits, one weighing a step, of one inverse temperature alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from metrics.enumeration.transition_matrix import transition_matrix
from samplers import AB, DLMC, DMALA, DULA, DLMCForward, Kernel, ParallelTempering, State
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.discrete_langevin import ODDS, LangevinProposal
from samplers.proposals.kept_weights import KeptWeights
from targets import Ising, Space, Streams
from tests.support.steps.stepping import ONE, chains, seeded
from tests.support.targets.small_targets import SPACES, random_target

KERNELS: dict[str, Kernel] = {
    "dmala": DMALA(0.6),
    "ab": AB(0.6, 0.8),
    "dlmc": DLMC(0.4),
    "dlmc_forward": DLMCForward(0.2, "barker"),
}
LATTICE = Ising(size=6, coupling=0.5, field=0.2)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", KERNELS)
def test_steps_are_those_of_the_kernel_bit_for_bit(name: str, dtype: torch.dtype) -> None:
    target, one = LATTICE.to(dtype), ONE.to(dtype)
    plain = KERNELS[name].to(one)
    kept = plain.prepared(target, one)
    assert isinstance(kept, MetropolisHastings)
    assert isinstance(kept.proposal, KeptWeights)
    ends = []
    for kernel in (plain, kept):
        state, streams, said = chains(kernel, target), Streams([0, 1], "chain"), []
        for _ in range(40):
            state, info = kernel.step(target, state, one, streams)
            said.append(info.acceptance)
        ends.append((state, torch.stack(said)))
    assert 0.05 < ends[0][1].mean() < 0.95  # some are rejected, and keep the weights they had
    for one_end, other in zip(ends[0][0].theta, ends[1][0].theta, strict=True):
        assert torch.equal(one_end, other)
    assert torch.equal(ends[0][1], ends[1][1])


class Counting(LangevinProposal):
    """Says how many states it weighed."""

    weighed = 0

    def weight_names(self, space: Space) -> frozenset[str]:
        return LangevinProposal(self.step_size).weight_names(space)

    def weights(self, space: Space, state: State, beta: Tensor) -> dict[str, Tensor]:
        self.weighed += 1
        return dict(super().weights(space, state, beta))


def test_a_step_weighs_one_state() -> None:
    target, counting = random_target(SPACES["binary"]), Counting(torch.tensor(0.6, dtype=torch.float64))
    kernel = MetropolisHastings(counting).prepared(target, ONE)
    state = chains(kernel, target)
    for _ in range(5):
        state, _ = kernel.step(target, state, ONE, Streams([0, 1], "chain"))
    assert counting.weighed == 1 + 5


@pytest.mark.parametrize("name", KERNELS)
def test_transition_matrices_are_those_of_the_kernel(name: str) -> None:
    target, kernel = random_target(SPACES["binary"], seed=3), KERNELS[name]
    found = transition_matrix(kernel.prepared(target, ONE), target)
    torch.testing.assert_close(found, transition_matrix(kernel, target), rtol=0, atol=1e-15)


def test_a_state_that_was_evaluated_elsewhere_is_weighed() -> None:
    target, kernel = random_target(SPACES["binary"]), DMALA(0.6)
    kept = kernel.prepared(target, ONE)
    here, elsewhere = chains(kept, target), chains(kernel, target)
    assert ODDS in here.aux
    assert not elsewhere.aux
    ends = [kept.step(target, state, ONE, Streams([0, 1], "chain"))[0] for state in (here, elsewhere)]
    assert torch.equal(ends[0].theta, ends[1].theta)
    assert ODDS in ends[1].aux


def test_the_weights_of_another_state_would_be_no_distribution() -> None:
    """The mutant: what is kept is that of another state, as after a swap."""
    target = random_target(SPACES["binary"], seed=3)
    kept = DMALA(0.6).prepared(target, ONE)
    assert isinstance(kept, MetropolisHastings)
    state = kept.init(target, target.space.states(), ONE)
    stale = replace(state, aux={name: value.flip(0) for name, value in state.aux.items()})
    away = []
    for source in (state, stale):
        ends = (end.expand_as(source.theta) for end in state.theta)
        rows = [kept.proposal.log_prob(target.space, source, end, ONE).exp() for end in ends]
        away.append((torch.stack(rows).sum(0) - 1.0).abs().max())
    assert away[0] < 1e-12 < 1e-3 < away[1]


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_another_inverse_temperature_is_refused(kernel: Kernel) -> None:
    target = random_target(SPACES["binary"])
    kept = kernel.prepared(target, ONE)
    state = chains(kept, target)
    with pytest.raises(
        ValueError, match=r"^beta must be the inverse temperature that the kernel was prepared"
    ):
        kept.step(target, state, 0.5 * ONE, seeded())


def test_only_accepted_moves_of_bits_at_one_temperature_keep_weights() -> None:
    """A swap would bring a state, and its weights, to another temperature."""
    bits, ladder = random_target(SPACES["binary"]), ParallelTempering(DMALA(1.0), [1.0, 0.5])
    assert ladder.prepared(bits, ONE) is ladder
    kernel = DMALA(1.0)
    assert kernel.prepared(bits, torch.tensor([1.0, 0.5], dtype=torch.float64)) is kernel
    assert kernel.prepared(random_target(SPACES["categorical"]), ONE) is kernel
    biased = DULA(1.0)
    assert biased.prepared(bits, ONE) is biased


def test_kept_weights_go_to_another_dtype() -> None:
    """At an inverse temperature that is another number in single precision."""
    target, beta = random_target(SPACES["binary"]), 0.3 * ONE
    small, single = random_target(SPACES["binary"]).float(), beta.float()
    kernel = DMALA(0.6)
    moved, anew = kernel.prepared(target, beta).to(single), kernel.to(single).prepared(small, single)
    ends = [
        each.step(small, chains(each, small), single, Streams([0, 1], "chain"))[0] for each in (moved, anew)
    ]
    assert ends[0].aux[ODDS].dtype == torch.float32
    assert torch.equal(ends[0].theta, ends[1].theta)
