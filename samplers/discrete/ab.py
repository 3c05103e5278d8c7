"""AB: an any-scale balanced sampler of first order."""

from __future__ import annotations

from torch import Tensor

from samplers.hyperparameters import balanced, positive
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.discrete_langevin import LangevinProposal
from targets.spaces import level_space
from targets.target import Target


class AB(MetropolisHastings):
    """First-order any-scale balanced sampler, after Sun et al. (2023a); exact, one gradient a step.

        q(y | x) is proportional to exp{ b beta grad U(x) . (y - x) - |y - x|^2 / (2 sigma^2) },

    accepted by Metropolis-Hastings. The idea, a balancing constant b between 1/2 (right for small steps) and
    1 (right for large ones) and a scale sigma that adapts, is Sun et al.'s. Their source is not public and
    the papers that compare with AB call a module that they do not ship, so the rest is ours: the acceptance
    of 0.574 that sigma is tuned to, the choice of b by the largest mean squared jump at that acceptance
    (`samplers.tuning.balancing`), and the diagonal quadratic form (they also learn a full one). Tuning is a
    pilot before the run; the run itself never adapts. With ``balancing=0.5`` this is DMALA with ``step_size``
    = sigma^2. The setting published for it in PT-DLP, sigma = 0.1 and alpha = 0.5, is ``step_size=0.01
    balancing=0.5``.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: after the description of Sun et al. (2023a); the proposal is Eq. 4 of Pynadath et al. (2024).

    Args:
        step_size: sigma^2 in squared state units; a number, or a tensor that broadcasts over the batch axes.
        balancing: b (the papers' alpha), from 0.5 to 1; a number or such a tensor.
    """

    def __init__(self, step_size: float | Tensor, balancing: float | Tensor) -> None:
        self.step_size = positive("step_size", step_size)
        self.balancing = balancing if isinstance(balancing, Tensor) else balanced(balancing)
        super().__init__(LangevinProposal(self.step_size, self.balancing))

    def check(self, target: Target) -> None:
        level_space("ab", target.space)
