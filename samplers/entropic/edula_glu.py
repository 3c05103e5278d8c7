"""EDULA with Gibbs-like updates (EDLP, appendix B)."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from samplers.entropic.edmala_glu import EDMALAGLU
from samplers.entropic.entropic_kernel import EntropicKernel
from samplers.hyperparameters import AUTO
from samplers.kernel import Info, State, evaluate
from samplers.metropolis_hastings import jump_length, taken
from samplers.proposals.entropic_langevin import THETA_A
from samplers.tuning.step_size import OPTIMAL_ACCEPTANCE
from targets.randomness import Generator
from targets.target import Target


class EDULAGLU(EntropicKernel):
    """Draws theta_a from its conditional N(theta, eta I), then moves theta by DULA with theta_a held fixed.

    Not exact, biased by the step size of theta alone. Both halves make one step.

    Args:
        step_size: alpha in squared state units, or ``"auto"``: the step size at which `EDMALAGLU` would
            accept with probability `acceptance`.
        eta: variance of theta_a around theta, in squared state units.
        acceptance: see `step_size`.
    """

    exact = False

    def __init__(
        self, step_size: float | str = AUTO, eta: float = 2.0, acceptance: float = OPTIMAL_ACCEPTANCE
    ) -> None:
        super().__init__(step_size, eta, None, acceptance)
        self.adjusted = EDMALAGLU(AUTO, eta, acceptance)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        gap = self.proposal.draw_gap(state.theta, state.log_prob.shape, generator)
        theta, _ = self.proposal.propose(target.space, state, gap, beta, generator)
        proposed = replace(evaluate(target, theta, gradient=True), aux={THETA_A: (state.theta - gap)})
        after, acceptance = taken(target, proposed, state)
        jump = jump_length(target.space, state.theta, after.theta)
        return after, Info(acceptance, jump, evaluations=1, theta_a=after.aux[THETA_A])
