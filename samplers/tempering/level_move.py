"""The Langevin move of replica exchange at its levels: inside the sampler, and alone for its tuning."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, State, evaluate
from samplers.metropolis_hastings import MetropolisHastings, accepted, jump_length
from samplers.tempering.tempered_levels import confined
from targets.randomness import Generator
from targets.target import Target


def level_move(
    local: MetropolisHastings,
    target: Target,
    state: State,
    at_levels: Callable[[State], State],
    generator: Generator,
) -> tuple[State, Tensor]:
    """States after a move by `local` towards their levels, and the acceptance probabilities ``(*batch)``.

    One evaluation of the target.

    Args:
        local: MALA or ULA.
        state: with U and its gradient.
        at_levels: puts log pi_k and its gradient in the place of U and its gradient.
    """
    # The levels hold all inverse temperatures already.
    one, level, space = state.log_prob.new_ones(()), at_levels(state), target.space
    theta, forward = local.proposal.propose(space, level, one, generator)
    proposed = evaluate(target, theta, gradient=True)
    if not local.adjusted:
        return proposed, torch.ones_like(proposed.log_prob)
    log_acceptance = local._log_acceptance(space, level, at_levels(proposed), one, forward)
    return accepted(log_acceptance, proposed, state, generator)


class LevelMove(Kernel):
    """`level_move` as a kernel for exp(beta U(x) - precision |x|^2 / 2), whose chains do not swap.

    A step of `samplers.tempering.replica_exchange_langevin.ReplicaExchangeLangevin` moves its replicas by it.

    Args:
        local: MALA or ULA.
        precision: 1 / M^2, broadcasting over the batch axes; 0 for no Gaussian.
    """

    def __init__(self, local: MetropolisHastings, precision: Tensor) -> None:
        self.local, self.precision, self.exact = local, precision, local.exact

    def step_size_range(self, target: Target) -> tuple[float, float]:
        return self.local.step_size_range(target)

    def check(self, target: Target) -> None:
        self.local.check(target)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        return evaluate(target, theta, gradient=True)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        after, acceptance = level_move(
            self.local, target, state, lambda here: confined(here, beta, self.precision), generator
        )
        return after, Info(acceptance, jump_length(target.space, state.theta, after.theta), evaluations=1)
