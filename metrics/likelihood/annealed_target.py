"""The path from a reference distribution to a target, as a target at each inverse temperature."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from samplers.kernel import State
from samplers.tempering.path import TemperedPath
from targets import ReferenceDistribution, Target


class AnnealedTarget(Target):
    """log f_beta = (1 - beta) log p0 + beta U, for kernels that are run at inverse temperature 1.

    log p0 has a closed form, and U - log p0 = (log f_beta - log p0) / beta. The log density and gradient that
    a kernel's state caches at one beta therefore determine those at any other beta, without an evaluation of
    U. log f is float64, so that the division loses no precision. The gradient has the dtype of the states: an
    error eps at beta becomes eps beta' / beta at beta', at most 2 eps for neighbouring temperatures.

    Args:
        target: U.
        base: the reference distribution p0.
        beta: from 0 to 1; changed along the path.
    """

    def __init__(self, target: Target, base: ReferenceDistribution, beta: float) -> None:
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

        Undefined at beta = 0, where f does not depend on U.
        """
        base = self.base.log_prob(state.theta)
        return base, (state.log_prob.double() - base) / self.beta

    def moved(self, state: State, base: Tensor, gap: Tensor, beta: float) -> State:
        """`state` at another `beta`, which becomes the path's; theta and auxiliaries are unchanged.

        Args:
            base, gap: as `split` returns them for `state`.
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
