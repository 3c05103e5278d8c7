"""EDMALA: the entropic discrete Metropolis-adjusted Langevin algorithm (EDLP, Algorithm 1)."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from samplers.entropic.entropic_kernel import EntropicKernel
from samplers.inverse_temperatures import tempered_log_ratio
from samplers.kernel import Info, State, evaluate
from samplers.metropolis_hastings import accepted, jump_length, taken
from samplers.proposals.entropic_langevin import THETA_A
from targets.randomness import Generator
from targets.spaces import Space
from targets.target import Target


class EDMALA(EntropicKernel):
    """Moves theta and theta_a together and accepts both or neither; exact, one gradient a step.

    The joint distribution exp{beta U(theta) - |theta - theta_a|^2 / (2 eta)} is left invariant, and with it
    exp(beta U), its marginal in theta. Flat modes are therefore favoured during the transient at most.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: EDLP, Algorithm 1.

    Args:
        step_size: alpha in squared state units; a number, or a tensor that broadcasts over the batch axes.
        eta: variance of theta_a around theta, in squared state units. For large eta the proposal tends to
            that of DMALA; for small eta a move of theta is rejected, since theta_a stays behind.
        auxiliary_step_size: alpha_a of the Langevin step of theta_a.
        adjusted: whether moves are accepted or rejected; without that it is `samplers.entropic.edula.EDULA`.
    """

    def __init__(
        self,
        step_size: float | Tensor,
        eta: float = 2.0,
        auxiliary_step_size: float = 0.01,
        adjusted: bool = True,
    ) -> None:
        super().__init__(step_size, eta, auxiliary_step_size, adjusted)

    def log_acceptance(self, space: Space, source: State, destination: State, beta: Tensor) -> Tensor:
        """log min(1, ratio) of the joint move, ``(*batch)``; Algorithm 1."""
        gap = source.theta - source.aux[THETA_A]
        forward = self.proposal.log_prob(space, source, gap, destination.theta, beta)
        return self._log_acceptance(space, source, destination, beta, gap, forward)

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, gap: Tensor, forward: Tensor
    ) -> Tensor:
        after = destination.theta - destination.aux[THETA_A]
        reverse = self.proposal.log_prob(space, destination, after, source.theta, beta)
        move = destination.theta - source.theta
        coupling = self.proposal.log_joint_ratio(move, gap, after, source.log_prob.dim())
        ratio = tempered_log_ratio(source.log_prob, destination.log_prob, beta)
        return (ratio + coupling + reverse - forward).clamp(max=0.0)

    def drawn(self, state: State, generator: Generator) -> State:
        """theta_a from its conditional N(theta, eta I).

        Algorithm 1 begins at theta_a = theta, which is forgotten after some 2 eta / alpha_a steps only: until
        then theta_a is too close, and theta is held back.
        """
        gap = self.proposal.draw_gap(state.theta, state.log_prob.shape, generator)
        return replace(state, aux={**state.aux, THETA_A: state.theta - gap})

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        space, batch = target.space, state.log_prob.shape
        gap = state.theta - state.aux[THETA_A]
        theta, forward = self.proposal.propose(space, state, gap, beta, generator)
        theta_a = self.proposal.move_auxiliary(state.aux[THETA_A], gap, batch, generator)
        proposed = replace(evaluate(target, theta, gradient=True), aux={THETA_A: theta_a})
        if self.adjusted:
            log_acceptance = self._log_acceptance(space, state, proposed, beta, gap, forward)
            after, acceptance = accepted(log_acceptance, proposed, state, generator)
        else:
            after, acceptance = taken(target, proposed, state)
        jump = jump_length(space, state.theta, after.theta)
        return after, Info(acceptance, jump, evaluations=1, aux=after.aux)
