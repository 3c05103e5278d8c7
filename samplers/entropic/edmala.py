"""EDMALA: the entropic discrete Metropolis-adjusted Langevin algorithm (EDLP, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torch import Tensor

from samplers.entropic.entropic_kernel import EntropicKernel
from samplers.inverse_temperatures import tempered_log_ratio
from samplers.kernel import Info, Kernel, State, evaluate
from samplers.metropolis_hastings import accepted, jump_length, overridden, taken
from samplers.proposals.entropic_langevin import THETA_A
from samplers.proposals.prepared_beta import PreparedBeta
from samplers.served import CacheMark
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
        self._kept: PreparedBeta | None = None
        self._mark = CacheMark()

    def prepared(self, target: Target, beta: Tensor) -> Kernel:
        """With the weights of the moves of bits in the states: a step weighs one state, not two.

        Not in a ladder: after a swap the weights would be those of another temperature. Who sets theta_a in
        a state of this kernel must set ``cached_by`` to None, so that they are computed anew.
        """
        own = ("init", "drawn", "refreshed", "step", "_log_acceptance")
        if not self.adjusted or beta.dim() or overridden(self, EDMALA, *own):
            return self
        if not self.proposal.weight_names(target.space):
            return self
        return self.prepared_copy(target, _kept=PreparedBeta(beta), _mark=CacheMark())

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        return self._weighed(super().init(target, theta, beta))

    def _weighed(self, state: State) -> State:
        """`state` with what a prepared kernel keeps in it."""
        if self._kept is None or self._mark.owns(state.cached_by):
            return state
        weights = self.proposal.weights(state, self._kept.values[0])
        return replace(state, aux={**state.aux, **weights}, cached_by=self._mark.text)

    def _weights(self, state: State, beta: Tensor) -> Mapping[str, Tensor] | None:
        """The weights that are kept in `state`; None if there are none.

        Raises:
            ValueError: for another inverse temperature than that of a prepared kernel.
        """
        if self._kept is None:
            return None
        self._kept.check(beta)
        return state.aux if self._mark.owns(state.cached_by) else None

    def log_acceptance(self, space: Space, source: State, destination: State, beta: Tensor) -> Tensor:
        """log min(1, ratio) of the joint move, ``(*batch)``; Algorithm 1."""
        gap = source.theta - source.aux[THETA_A]
        forward = self.proposal.log_prob(space, source, gap, destination.theta, beta)
        return self._log_acceptance(space, source, destination, beta, gap, forward)

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, gap: Tensor, forward: Tensor
    ) -> Tensor:
        after = destination.theta - destination.aux[THETA_A]
        known = self._weights(destination, beta)
        reverse = self.proposal.log_prob(space, destination, after, source.theta, beta, known)
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
        return self._moved(state, state.theta - gap)

    def refreshed(self, target: Target, state: State, beta: Tensor) -> State:
        anew = super().refreshed(target, state, beta)
        return self._moved(anew, anew.aux[THETA_A])

    def _moved(self, state: State, theta_a: Tensor) -> State:
        """`state` with another theta_a, and the weights that it has there."""
        return self._weighed(replace(state, aux={**state.aux, THETA_A: theta_a}, cached_by=None))

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        space, batch, state = target.space, state.log_prob.shape, self._weighed(state)
        gap, known = state.theta - state.aux[THETA_A], self._weights(state, beta)
        theta, forward = self.proposal.propose(space, state, gap, beta, generator, known)
        theta_a = self.proposal.move_auxiliary(state.aux[THETA_A], gap, batch, generator)
        proposed = self._weighed(replace(evaluate(target, theta, gradient=True), aux={THETA_A: theta_a}))
        if self.adjusted:
            log_acceptance = self._log_acceptance(space, state, proposed, beta, gap, forward)
            after, acceptance = accepted(log_acceptance, proposed, state, generator)
        else:
            after, acceptance = taken(target, proposed, state)
        jump = jump_length(space, state.theta, after.theta)
        return after, Info(acceptance, jump, evaluations=1, aux={THETA_A: after.aux[THETA_A]})
