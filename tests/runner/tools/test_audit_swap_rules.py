"""The audit's exact figures against a second program, and its enumeration of `released` against steps."""

from __future__ import annotations

import pytest
import torch

from metrics.enumeration.transition_matrix import (
    stationary,
    tempered_probabilities,
    total_variation,
    transition_matrix,
)
from runner.tools.audit.defects.broken_kernels import (
    AcceptanceWithoutBeta,
    ReleasedAcceptance,
    released_cold_distribution,
    swaps_with,
)
from runner.tools.audit.defects.released_run import released_step_size
from runner.tools.audit.defects.twelve_states import (
    BETAS,
    STEP_SIZE,
    acceptance_without_beta,
    bimodal_chain,
    local_moves,
    printed_rules,
    released_rule,
    reverse_scaled_twice,
)
from samplers import MetropolisHastings, ParallelTempering
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.tempering.swaps.swap_rules import ReleasedRule
from tests.support.steps.stepping import ONE

# From a program in NumPy that shares no code with the suite.
INDEPENDENT = [0.0, 0.2618, 0.5588, 0.4950, 0.0756, 0.3665, 0.1602, 0.2938, 0.2383]


def test_exact_figures_of_an_independent_program() -> None:
    findings = (printed_rules, released_rule, acceptance_without_beta, reverse_scaled_twice)
    figures = [figure for finding in findings for figure in finding.measure()]
    assert [figure.measured for figure in figures] == pytest.approx(INDEPENDENT, abs=6e-5)


def test_the_chain_is_the_mixture_that_it_says() -> None:
    x = torch.arange(12, dtype=torch.float64)
    bumps = 0.75 / 0.9 * torch.exp(-(((x - 3) / 0.9) ** 2) / 2) + 0.25 / 0.7 * torch.exp(
        -(((x - 9) / 0.7) ** 2) / 2
    )
    target = bimodal_chain()
    torch.testing.assert_close(target.probabilities(), bumps / bumps.sum())
    _, grad = target.log_prob_and_grad(torch.tensor([[3.0], [9.0]], dtype=torch.float64))
    # At its own centre a bump is flat, and the other one is far away.
    assert grad.abs().max() < 1e-6


@pytest.mark.parametrize("acceptance", [MetropolisHastings, ReleasedAcceptance])
def test_the_released_rule_is_enumerated_as_it_steps(acceptance: type[MetropolisHastings]) -> None:
    """20,000 chains after 40 rounds: a total variation of 0.0310 has a false-alarm rate below 1e-6.

    On 12 states the mean of the empirical total variation is at most sqrt(12 / N) / 2 = 0.0122, and it
    exceeds its mean by 0.0188 with probability exp(-2 N 0.0188^2) = 7e-7 (McDiarmid). Without the stale
    energies the distribution would be 0.13 away.
    """
    target = bimodal_chain()
    kernel = acceptance(LangevinProposal(torch.tensor(STEP_SIZE, dtype=torch.float64)))
    sampler = ParallelTempering(kernel, ladder=BETAS, swap=swaps_with(ReleasedRule))
    generator = torch.Generator().manual_seed(0)
    state = sampler.init(target, target.initial((2, 1, 20_000), generator), ONE)
    for _ in range(40):
        state, _ = sampler.step(target, state, ONE, generator)
    drawn = torch.bincount(target.space.index(sampler.draws(state)).flatten(), minlength=12) / 20_000
    expected = released_cold_distribution(target, local_moves(acceptance), BETAS)
    assert total_variation(drawn.double(), expected) <= 0.0310


def test_without_beta_every_rung_targets_the_cold_distribution() -> None:
    target = bimodal_chain()
    kernel = AcceptanceWithoutBeta(LangevinProposal(torch.tensor(STEP_SIZE, dtype=torch.float64)))
    hot = stationary(transition_matrix(kernel, target, 0.3))
    assert total_variation(hot, target.probabilities()) < 1e-12
    assert total_variation(hot, tempered_probabilities(target, 0.3)) > 0.2


def test_released_kernels_are_not_swapped_for_tables() -> None:
    """A table of the right proposal would undo the defect."""
    kernel = ReleasedAcceptance(LangevinProposal(ONE))
    assert kernel.prepared(bimodal_chain(), ONE) is kernel
    assert not kernel.exact


def test_the_released_step_size() -> None:
    assert released_step_size(0.4) == pytest.approx(40.4**4)
    assert released_step_size(0.15) == pytest.approx(5.3e4, rel=0.01)
