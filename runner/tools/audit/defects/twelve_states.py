"""Swap rules and acceptances on a 12-state bimodal chain, by enumeration of its two replicas.

The target was found by a search over two bumps on 0 .. 11 with the discrete Langevin proposal inside, for
agreement with the eight figures of our notes (settings I); all come out within 0.006.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metrics.enumeration.tempered_transition import Ladder, round_matrix
from metrics.enumeration.transition_matrix import (
    stationary,
    tempered_probabilities,
    total_variation,
    transition_matrix,
)
from runner.tools.audit.defects.broken_kernels import (
    AcceptanceWithoutBeta,
    ReleasedAcceptance,
    ReverseScaledTwice,
    V1SignOnCurrentStates,
    V1WithMinimum,
    released_cold_distribution,
    swaps_with,
)
from runner.tools.audit.finding import Figure, at_most, finding, fitted
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.tempering.swaps.swap_rules import HistoryRule, ReleasedRule, SwapRule, V1LiteralRule
from targets import Ordinal, Tabulated

BUMPS = ((0.75, 3.0, 0.9), (0.25, 9.0, 0.7))
"""Weight, centre and standard deviation of each."""

STEP_SIZE = 9.0
"""alpha, in squared units of the chain; the same on both rungs."""

BETAS = (1.0, 0.3)
NOTE = (
    "The notes state neither the 12 probabilities nor the step size. Ours were chosen among some 25,000 "
    "settings to agree with their eight figures together, six numbers being free: consistent, not confirmed."
)


def bimodal_chain() -> Tabulated:
    """U(x) = log{0.75 N(x; 3, 0.9^2) + 0.25 N(x; 9, 0.7^2)} on {0, .., 11}, with its derivative."""
    space = Ordinal(1, 12)
    theta = space.states().requires_grad_(True)
    with torch.enable_grad():
        x = theta.squeeze(-1)
        bumps = [math.log(w / sd) - 0.5 * ((x - centre) / sd).square() for w, centre, sd in BUMPS]
        log_prob = torch.stack(bumps).logsumexp(0)
        (grad,) = torch.autograd.grad(log_prob.sum(), theta)
    return Tabulated(space, log_prob, grad)


def local_moves(kernel: type[MetropolisHastings]) -> list[Tensor]:
    """The transition matrices of both rungs under `kernel` with the discrete Langevin proposal."""
    target = bimodal_chain()
    moves = kernel(LangevinProposal(torch.tensor(STEP_SIZE, dtype=torch.float64)))
    return [transition_matrix(moves, target, beta) for beta in BETAS]


def cold_distance(rule: type[SwapRule], kernel: type[MetropolisHastings] = MetropolisHastings) -> float:
    """Total variation of the cold rung's stationary distribution to the target, on the product space."""
    target, local = bimodal_chain(), local_moves(kernel)
    if rule.remembers:
        cold = released_cold_distribution(target, local, BETAS)
    else:
        matrix = round_matrix(target, local, Ladder(list(BETAS), None, []), swaps_with(rule))
        cold = stationary(matrix).reshape(len(local[0]), -1).sum(1)
    return total_variation(cold, target.probabilities())


@finding(
    "printed-rules",
    "Printed swap rules move the cold replica off its target; the Metropolis rule does not",
    where="PT-DLP v1 Eq. 6 and 3.2, v2 Eq. 5",
    source="settings 0.4, I.1-3",
    method="enumeration of the product space; an independent program gives the same",
    note=NOTE,
)
def printed_rules() -> list[Figure]:
    return [
        Figure("Metropolis", at_most(1e-12), cold_distance(SwapRule)),
        fitted("v1 Eq. 6 as printed (max)", 0.26, cold_distance(V1LiteralRule)),
        fitted("v1 Eq. 6 with min", 0.56, cold_distance(V1WithMinimum)),
        fitted("current states, sign of v1", 0.50, cold_distance(V1SignOnCurrentStates)),
        fitted("v2 Eq. 5 (history)", 0.077, cold_distance(HistoryRule)),
    ]


@finding(
    "released-rule",
    "The released swap rule has the sign of v1 and stale energies",
    where="PTDLP samplers.py:143-149",
    source="settings I.4",
    method="enumeration of the states and of the energies that the rule keeps; 50,000 chains agree",
    note=NOTE,
)
def released_rule() -> list[Figure]:
    return [
        fitted("released rule, exact moves", 0.37, cold_distance(ReleasedRule)),
        fitted("released rule, released moves", 0.16, cold_distance(ReleasedRule, ReleasedAcceptance)),
    ]


def rung_distance(kernel: type[MetropolisHastings], rung: int) -> float:
    """Total variation of one chain's stationary distribution to its own tempered target."""
    own = stationary(local_moves(kernel)[rung])
    return total_variation(own, tempered_probabilities(bimodal_chain(), BETAS[rung]))


@finding(
    "no-beta",
    "The released acceptance lacks beta: every replica targets beta = 1",
    where="PTDLP samplers.py:117-118",
    source="settings 0.5, I.5",
    method="enumeration of the hot chain",
    note=NOTE,
)
def acceptance_without_beta() -> list[Figure]:
    return [fitted("hot chain, TV to its target", 0.29, rung_distance(AcceptanceWithoutBeta, 1))]


@finding(
    "reverse-twice",
    "The released acceptance scales the reverse gradient twice: a single chain is off its target",
    where="PTDLP samplers.py:113-114 with :97",
    source="settings 0.5, I.6",
    method="enumeration of the cold chain",
    note=NOTE,
)
def reverse_scaled_twice() -> list[Figure]:
    """The reverse proposal has half the drift of the forward one."""
    return [fitted("cold chain, TV to its target", 0.24, rung_distance(ReverseScaledTwice, 0))]
