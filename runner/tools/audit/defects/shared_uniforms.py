"""One uniform number for all swaps of a sweep."""

from __future__ import annotations

from itertools import product

import torch
from torch import Tensor

from metrics.enumeration.tempered_transition import Ladder, product_distribution, round_matrix
from metrics.enumeration.transition_matrix import (
    invariance_error,
    stationary,
    total_variation,
    transition_matrix,
)
from runner.tools.audit.finding import Figure, at_least, at_most, bound, finding, fitted
from samplers import DMALA, Swaps
from targets import Ordinal, Tabulated

PROBABILITIES = (0.4, 0.1, 0.1, 0.4)
LADDER = (1.0, 0.5, 0.1)
STEP_SIZE = 9.0


def four_states() -> Tabulated:
    """Two modes on {0, 1, 2, 3}; the gradient is the central difference of the energy."""
    log_prob = torch.tensor(PROBABILITIES, dtype=torch.float64).log()
    return Tabulated(Ordinal(1, 4), log_prob, torch.gradient(log_prob)[0].unsqueeze(-1))


def shared_sweep(energy: Tensor, betas: tuple[float, ...]) -> Tensor:
    """The transition matrix of one sweep over three rungs with one uniform number u, exact in u.

    A pair swaps when u is below its probability, so both, only the first, only the second or none swap on
    intervals of u whose lengths follow from the two probabilities; the second depends on the first.
    """
    size = len(energy)

    def chance(pair: int, who: tuple[int, int, int]) -> float:
        gap = betas[pair] - betas[pair + 1]
        return min(1.0, float((gap * (energy[who[pair + 1]] - energy[who[pair]])).exp()))

    matrix = torch.zeros((size**3, size**3), dtype=torch.float64)
    for row, (a, b, c) in enumerate(product(range(size), repeat=3)):
        first = chance(0, (a, b, c))
        after, without = chance(1, (b, a, c)), chance(1, (a, b, c))
        for (x, y, z), mass in (
            ((b, c, a), min(first, after)),
            ((b, a, c), max(0.0, first - after)),
            ((a, c, b), max(0.0, without - first)),
            ((a, b, c), 1.0 - max(first, without)),
        ):
            matrix[row, (x * size + y) * size + z] += mass
    return matrix


@finding(
    "shared-uniforms",
    "One uniform number for all swaps of a sweep breaks invariance",
    where="PT-DLP v1 Algorithm 1",
    source="settings I.8",
    method="enumeration of the product space, exact in the shared number",
    note="The toy is not stated. Ours is (0.4, 0.1, 0.1, 0.4) with DMALA at step size 9 inside; the ladder "
    "1, 0.5, 0.1 was chosen for the invariance error, and the total variation is then another one.",
)
def shared_uniforms() -> list[Figure]:
    """What one shared number breaks and independent ones do not, on 4 states with 3 rungs."""
    target = four_states()
    pi, nothing = product_distribution(target, list(LADDER)), torch.eye(4, dtype=torch.float64)
    shared = shared_sweep(target.log_prob(target.space.states()), LADDER)
    apart = round_matrix(target, [nothing] * 3, Ladder(list(LADDER), None, []), Swaps(pairing="sequential"))
    cold, warm, hot = (transition_matrix(DMALA(STEP_SIZE), target, beta) for beta in LADDER)
    moves = torch.kron(torch.kron(cold, warm), hot)
    own = stationary(moves @ shared).reshape(4, 16).sum(1)
    distance = total_variation(own, target.probabilities())
    return [
        fitted("shared uniform: max |pi P - pi|", 0.003, invariance_error(shared, pi), tolerance=0.0005),
        Figure("independent uniforms: max |pi P - pi|", at_most(1e-12), invariance_error(apart, pi)),
        bound("shared uniform: TV of the cold replica", at_least(1e-3), distance, stated=0.003),
    ]
