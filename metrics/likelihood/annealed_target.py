"""The path from a base law to a target, as a target of its own at each inverse temperature."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from samplers.kernel import State
from samplers.tempering.path import TemperedPath
from targets.reference_distribution import BaseLaw
from targets.target import Target


class AnnealedTarget(Target):
    """log f_beta = (1 - beta) log p0 + beta U, for kernels that are stepped at their own temperature 1.

    The gap U - log p0 of a state is (log f_beta - log p0) / beta, and log p0 is known in closed form. What a
    kernel's state caches at one beta is therefore known at every other without another evaluation of U.
    log f is float64, so that nothing is lost in the division. The gradient keeps the states' dtype: an error
    eps in it at beta is one of eps beta' / beta at beta', which for neighbours is at most 2 eps.

    Args:
        target: U.
        base: p0.
        beta: from 0 to 1; to be set along the path.
    """

    def __init__(self, target: Target, base: BaseLaw, beta: float) -> None:
        super().__init__()
        self.target, self.base, self.beta = target, base, beta
        self.path = TemperedPath(base)
        self.space, self.batch_invariant = target.space, target.batch_invariant

    def log_prob(self, theta: Tensor) -> Tensor:
        return self._mixed(theta, self.target.log_prob(theta))

    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        log_prob, grad = self.target.log_prob_and_grad(theta)
        return self._mixed(theta, log_prob), self.path.grad(grad, self.beta)

    def split(self, state: State) -> tuple[Tensor, Tensor]:
        """log p0 and U - log p0 of the states, ``(*batch)`` each, float64, from what `state` caches.

        At beta = 0 nothing of U is in it, and the gap is no number.
        """
        base = self.base.log_prob(state.theta)
        return base, (state.log_prob.double() - base) / self.beta

    def moved(self, state: State, base: Tensor, gap: Tensor, beta: float) -> State:
        """`state`, which `split` into `base` and `gap`, at another `beta`, which becomes that of the path.

        Its theta and auxiliaries stay.
        """
        share, self.beta = beta / self.beta, beta
        grad = state.grad
        if grad is not None:
            grad = self.path.grad(grad, share)
        return replace(state, log_prob=base + beta * gap, grad=grad)

    def like(self) -> Tensor:
        return self.target.like()

    def _mixed(self, theta: Tensor, log_prob: Tensor) -> Tensor:
        return self.path.log_density(theta, log_prob, self.beta)
