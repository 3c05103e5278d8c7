"""MALA: the Metropolis-adjusted Langevin algorithm on the reals (Roberts and Tweedie 1996)."""

from __future__ import annotations

from torch import Tensor

from samplers.hyperparameters import positive
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.continuous_langevin import LangevinDiffusionProposal
from targets.spaces import real_space
from targets.target import Target


class MALA(MetropolisHastings):
    """Metropolis-Hastings with `LangevinDiffusionProposal`; exact, one gradient a step.

    Spaces: real.
    Cost: one gradient.
    Source: Roberts and Tweedie (1996).

    Args:
        step_size: h in y = x + h beta grad U + sqrt(2 h) xi, in squared state units; a number, or a tensor
            that broadcasts over the batch axes.
        adjusted: whether moves are accepted or rejected; without that it is `samplers.continuous.ula.ULA`.
    """

    def __init__(self, step_size: float | Tensor, adjusted: bool = True) -> None:
        self.step_size = positive("step_size", step_size)
        super().__init__(LangevinDiffusionProposal(self.step_size), adjusted)

    def check(self, target: Target) -> None:
        real_space(type(self).__name__.lower(), target.space)
