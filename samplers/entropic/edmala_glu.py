"""EDMALA with Gibbs-like updates (EDLP, appendix B)."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from samplers.entropic.entropic_kernel import EntropicKernel
from samplers.inverse_temperatures import tempered_log_ratio
from samplers.kernel import Info, State, evaluate
from samplers.metropolis_hastings import accepted, jump_length, taken
from samplers.proposals.entropic_langevin import THETA_A
from targets.randomness import Generator
from targets.spaces import Space
from targets.target import Target


class EDMALAGLU(EntropicKernel):
    """Draws theta_a from its conditional N(theta, eta I), then moves theta by DMALA with theta_a held fixed.

    Both halves make one step, which is exact and costs one gradient. theta_a is drawn anew each time, so
    that theta alone is a Markov chain. The released code counts each half as a step (settings E.4), which
    is why the paper reports half the run time.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: EDLP, appendix B.

    Args:
        step_size: alpha in squared state units; a number, or a tensor that broadcasts over the batch axes.
        eta: variance of theta_a around theta, in squared state units.
        adjusted: whether moves are accepted or rejected; without that it is
            `samplers.entropic.edula_glu.EDULAGLU`.
    """

    def __init__(self, step_size: float | Tensor, eta: float = 2.0, adjusted: bool = True) -> None:
        super().__init__(step_size, eta, None, adjusted)

    def log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, gap: Tensor
    ) -> Tensor:
        """log min(1, ratio) of the move of theta, ``(*batch)``, for theta_a = ``source.theta - gap``."""
        forward = self.proposal.log_prob(space, source, gap, destination.theta, beta)
        return self._log_acceptance(space, source, destination, beta, gap, forward)

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, gap: Tensor, forward: Tensor
    ) -> Tensor:
        move = destination.theta - source.theta
        coupling = self.proposal.log_conditional_ratio(move, gap, source.log_prob.dim())
        reverse = self.proposal.log_prob(space, destination, move.add_(gap), source.theta, beta)
        ratio = tempered_log_ratio(source.log_prob, destination.log_prob, beta)
        return (ratio + coupling + reverse - forward).clamp(max=0.0)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        space, batch = target.space, state.log_prob.shape
        gap = self.proposal.draw_gap(state.theta, batch, generator)
        theta, forward = self.proposal.propose(space, state, gap, beta, generator)
        proposed = evaluate(target, theta, gradient=True)
        if self.adjusted:
            log_acceptance = self._log_acceptance(space, state, proposed, beta, gap, forward)
            after, acceptance = accepted(log_acceptance, proposed, state, generator)
        else:
            after, acceptance = taken(target, proposed, state)
        # theta_a has moved already, whether theta moves or stays.
        after = replace(after, aux={THETA_A: torch.sub(state.theta, gap, out=gap)})
        jump = jump_length(space, state.theta, after.theta)
        return after, Info(acceptance, jump, evaluations=1, aux=after.aux)
