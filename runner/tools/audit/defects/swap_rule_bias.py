"""How far each swap rule takes the cold replica from its target: exact figures on the 12-state chain."""

from __future__ import annotations

import torch
from torch import Tensor

from metrics.enumeration.tempered_transition import Ladder, round_matrix
from metrics.enumeration.transition_matrix import (
    stationary,
    tempered_probabilities,
    total_variation,
    transition_matrix,
)
from runner.tools.audit.defects.bimodal_chain import BETAS, STEP_SIZE, bimodal_chain
from runner.tools.audit.defects.printed_rules import (
    V1SignOnCurrentStates,
    V1WithMinimum,
    released_cold_distribution,
    swaps_with,
)
from runner.tools.audit.defects.released_acceptance import (
    AcceptanceWithoutBeta,
    ReleasedAcceptance,
    ReverseScaledTwice,
)
from runner.tools.audit.finding import Basis, Figure, at_most, near
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.tempering.swaps.swap_rules import History, Released, SwapRule, V1Literal

TOLERANCE = 0.01
"""Our notes print two digits and not the target, so a figure may be off by more than its rounding."""

NAMES: dict[str, type[SwapRule]] = {
    "Metropolis": SwapRule,
    "v1 Eq. 6 as printed (max)": V1Literal,
    "v1 Eq. 6 with min": V1WithMinimum,
    "current states, sign of v1": V1SignOnCurrentStates,
    "v2 Eq. 5 (history)": History,
}
EXPECTED = {
    "v1 Eq. 6 as printed (max)": 0.26,
    "v1 Eq. 6 with min": 0.56,
    "current states, sign of v1": 0.50,
    "v2 Eq. 5 (history)": 0.077,
}


def local_moves(kernel: type[MetropolisHastings]) -> list[Tensor]:
    """The transition matrices of both rungs under `kernel` with the discrete Langevin proposal."""
    target = bimodal_chain()
    moves = kernel(LangevinProposal(torch.tensor(STEP_SIZE, dtype=torch.float64)))
    return [transition_matrix(moves, target, beta) for beta in BETAS]


def cold_distribution(rule: type[SwapRule], local: list[Tensor]) -> Tensor:
    """The stationary distribution of the cold rung, by enumeration of the product space."""
    target = bimodal_chain()
    size = len(local[0])
    if rule.remembers:
        return released_cold_distribution(target, local, BETAS)
    matrix = round_matrix(target, local, Ladder(list(BETAS), None, []), swaps_with(rule))
    return stationary(matrix).reshape(size, size).sum(1)


def printed_rules() -> list[Figure]:
    """Total variation of the cold replica with exact Metropolis-Hastings moves inside."""
    target = bimodal_chain()
    local = local_moves(MetropolisHastings)
    figures = []
    for name, rule in NAMES.items():
        value = total_variation(cold_distribution(rule, local), target.probabilities())
        if name in EXPECTED:
            figures.append(_fitted(name, EXPECTED[name], value))
        else:
            figures.append(Figure(name, at_most(1e-12), value))
    return figures


def released_rule() -> list[Figure]:
    """The same for the released rule, which keeps stale energies: with right and with released moves."""
    target = bimodal_chain()
    settings = {
        "released rule, exact moves": (0.37, local_moves(MetropolisHastings)),
        "released rule, released moves": (0.16, local_moves(ReleasedAcceptance)),
    }
    return [
        _fitted(name, expected, total_variation(cold_distribution(Released, local), target.probabilities()))
        for name, (expected, local) in settings.items()
    ]


def acceptance_without_beta() -> list[Figure]:
    """The hot chain alone, beta = 0.3: it targets beta = 1."""
    hot = local_moves(AcceptanceWithoutBeta)[1]
    exact = tempered_probabilities(bimodal_chain(), BETAS[1])
    return [_fitted("hot chain, TV to its target", 0.29, total_variation(stationary(hot), exact))]


def reverse_scaled_twice() -> list[Figure]:
    """The cold chain alone, beta = 1: its reverse proposal has half the drift of the forward one."""
    cold = local_moves(ReverseScaledTwice)[0]
    exact = bimodal_chain().probabilities()
    return [_fitted("cold chain, TV to its target", 0.24, total_variation(stationary(cold), exact))]


def _fitted(name: str, expected: float, measured: float) -> Figure:
    return Figure(name, near(expected, TOLERANCE), measured, basis=Basis.FITTED)
