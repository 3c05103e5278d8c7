"""GWG: Gibbs with gradients (Grathwohl et al. 2021), one coordinate a step, chosen by one gradient."""

from __future__ import annotations

from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.local_moves import LocalMove
from targets.spaces import level_space
from targets.target import Target


class GWG(MetropolisHastings):
    """Metropolis-Hastings that moves one coordinate in proportion to exp{beta dU / 2}; exact.

    dU is the first-order change of U; the half, a square root of the ratio of densities, makes the proposal
    locally balanced. GWG-1 of EDLP (settings E.5); `samplers.informed.locally_balanced.LocallyBalanced`
    has other balancing functions and exact differences.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: Grathwohl et al. (2021), Eqs. 3 and 4.
    """

    def __init__(self) -> None:
        super().__init__(LocalMove())

    def check(self, target: Target) -> None:
        level_space("gwg", target.space)
