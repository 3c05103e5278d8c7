"""DMALA: the discrete Metropolis-adjusted Langevin algorithm (Zhang, Liu and Liu 2022)."""

from __future__ import annotations

from torch import Tensor

from samplers.hyperparameters import positive
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.discrete_langevin import LangevinProposal
from targets.checks import within
from targets.spaces import Ordinal, level_space
from targets.target import Target


class DMALA(MetropolisHastings):
    """Metropolis-Hastings with the discrete Langevin proposal; exact, one gradient a step.

    PT-DLP v2, Eqs. 2 and 6. Every coordinate may move in one step.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: Zhang, Liu and Liu (2022); PT-DLP v2, Eqs. 2 and 6.

    Args:
        step_size: alpha in state units to the power p; a number, or a tensor that broadcasts over the batch
            axes.
        balancing: b in the proposal; 1/2 is locally balanced.
        norm: p of the regulariser |y - x|_p^p, from 1 to 8.
        adjusted: whether moves are accepted or rejected; without that it is `samplers.discrete.dula.DULA`.
    """

    def __init__(
        self, step_size: float | Tensor, balancing: float = 0.5, norm: float = 2.0, adjusted: bool = True
    ) -> None:
        self.step_size = positive("step_size", step_size)
        self.balancing = within("balancing", balancing, 0.0, 1.0)
        self.norm = within("norm", norm, 1.0, 8.0)
        super().__init__(LangevinProposal(self.step_size, self.balancing, self.norm), adjusted)

    def step_size_range(self, target: Target) -> tuple[float, float]:
        """As of other kernels, in the unit that p gives: a far level is at distance (levels - 1)^p."""
        low, high = super().step_size_range(target)
        return low, high ** (self.norm / 2.0) if isinstance(target.space, Ordinal) else high

    def check(self, target: Target) -> None:
        level_space(type(self).__name__.lower(), target.space)
