"""DLMC: discrete Langevin Monte Carlo (Sun et al. 2023b)."""

from __future__ import annotations

from typing import Self

from torch import Tensor

from samplers.hyperparameters import positive
from samplers.informed.informed_kernel import InformedKernel
from samplers.metropolis_hastings import MetropolisHastings, overridden
from samplers.proposals.balancing_functions import BalancingFunction
from samplers.proposals.jump_process import JumpProcess, Solver, interpolated
from targets.target import Target


class DLMC(InformedKernel, MetropolisHastings):
    """Metropolis-Hastings whose proposal runs a jump process of each coordinate for a time h; exact.

    The transition probabilities are interpolated between staying and the coordinate's stationary
    distribution nu: q(y_i = v) = nu_v {1 - exp(-h g(t_v) / nu_v)} for the levels v that it does not have,
    with t_v the ratio of densities of that move alone; with the rest it stays. For bits this solves the
    jump process exactly.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: Sun et al. (2023b), with the solver ``interpolate`` of DISCS (Goshvadi et al. 2023, section 2 for
        the process, 4.1 for the solver: DLMC).

    Args:
        step_size: h, the time of the process; a number, or a tensor that broadcasts over the batch axes.
        balancing_function: g: ``sqrt``, ``barker``, ``min``, ``max``, or the path of a function.
        differences: ``exact``, ``gradient``, or ``auto``: exact where the target has them.
    """

    def __init__(
        self,
        step_size: float | Tensor,
        balancing_function: str | BalancingFunction = "sqrt",
        differences: str = "auto",
    ) -> None:
        InformedKernel.__init__(self, balancing_function, differences)
        self.step_size = positive("step_size", step_size)
        MetropolisHastings.__init__(self, JumpProcess(self.step_size, self.function, self.solver))

    @property
    def solver(self) -> Solver:
        """How the jump process is solved."""
        return interpolated

    def specialised(self, target: Target) -> Self:
        """With a table as that of other kernels; `evaluated` is that of informed ones."""
        return self if overridden(self, InformedKernel, "evaluated") else self._with_table(target)

    def step_size_range(self, target: Target) -> tuple[float, float]:
        return 1e-4, 10.0
