"""EDULA: the entropic discrete unadjusted Langevin algorithm (EDLP, Algorithm 1 without the last step)."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from samplers.entropic.edmala import EDMALA
from samplers.entropic.entropic_kernel import EntropicKernel
from samplers.hyperparameters import AUTO
from samplers.kernel import Info, State, evaluate
from samplers.metropolis_hastings import jump_length, taken
from samplers.proposals.entropic_langevin import THETA_A
from samplers.tuning.step_size import OPTIMAL_ACCEPTANCE
from targets.randomness import Generator
from targets.target import Target


class EDULA(EntropicKernel):
    """Moves theta and theta_a together and takes every move; not exact, biased by both step sizes.

    Args:
        step_size: alpha in squared state units, or ``"auto"``: the step size at which EDMALA would accept
            with probability `acceptance`.
        eta: variance of theta_a around theta, in squared state units.
        auxiliary_step_size: alpha_a of the Langevin step of theta_a.
        acceptance: see `step_size`.
    """

    exact = False

    def __init__(
        self,
        step_size: float | str = AUTO,
        eta: float = 2.0,
        auxiliary_step_size: float = 0.01,
        acceptance: float = OPTIMAL_ACCEPTANCE,
    ) -> None:
        super().__init__(step_size, eta, auxiliary_step_size, acceptance)
        self.adjusted = EDMALA(AUTO, eta, auxiliary_step_size, acceptance)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        gap = state.theta - state.aux[THETA_A]
        theta, _ = self.proposal.propose(target.space, state, gap, beta, generator)
        theta_a = self.proposal.move_auxiliary(state.aux[THETA_A], gap, state.log_prob.shape, generator)
        proposed = replace(evaluate(target, theta, gradient=True), aux={THETA_A: theta_a})
        after, acceptance = taken(target, proposed, state)
        jump = jump_length(target.space, state.theta, after.theta)
        return after, Info(acceptance, jump, evaluations=1, theta_a=after.aux[THETA_A])
