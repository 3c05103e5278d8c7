"""DMALA along exact differences: the proposal by Newton's series of Xiang et al. (2023)."""

from __future__ import annotations

from torch import Tensor

from samplers.hyperparameters import positive
from samplers.informed.informed_kernel import InformedKernel
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.newton_langevin import NewtonLangevin
from targets.checks import within
from targets.spaces import Ordinal, level_space
from targets.target import SingleSiteDifferences, Target


class DMALANewton(InformedKernel, MetropolisHastings):
    """Metropolis-Hastings with the discrete Langevin proposal along exact differences of U; exact.

    log q_i(y_i | x) = b beta [U(x with y_i) - U(x)] - |y_i - x_i|^2 / (2 alpha) + constant. Where U is linear
    in every coordinate, as in the Ising model, this is DMALA; elsewhere it does not depend on how U is
    extended between the states. The target must have exact differences.

    Spaces: binary, categorical.
    Cost: one evaluation.
    Source: Xiang et al. (2023), the proposal by Newton's series with the Metropolis-Hastings step.

    Args:
        step_size: alpha in squared state units; a number, or a tensor that broadcasts over the batch axes.
        balancing: b; 1/2 is locally balanced.
    """

    def __init__(self, step_size: float | Tensor, balancing: float = 0.5) -> None:
        InformedKernel.__init__(self, "sqrt", "exact")
        self.step_size = positive("step_size", step_size)
        self.balancing = within("balancing", balancing, 0.0, 1.0)
        MetropolisHastings.__init__(self, NewtonLangevin(self.step_size, self.balancing))

    def check(self, target: Target) -> None:
        if isinstance(level_space("dmala_newton", target.space), Ordinal):
            raise ValueError(f"dmala_newton needs a binary or categorical space, not {target.space}")
        if not isinstance(target, SingleSiteDifferences):
            raise ValueError(
                f"dmala_newton needs a target that knows the changes of U by one move exactly, "
                f"{type(target).__name__} does not (log_prob_and_differences)"
            )
