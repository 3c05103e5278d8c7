"""The levels of replica exchange Langevin: tempered targets, the hottest confined by a Gaussian."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Self

import torch
from torch import Tensor

from samplers.inverse_temperatures import along_first
from samplers.kernel import State
from samplers.tempering.path import TemperedPath


class TemperedLevels:
    """log pi_k(x) = beta_k U(x) - |x|^2 / (2 M_k^2) for k = 0 .. K; M_k is infinite for all but the last.

    ReLD, Eq. 3 (K = 1; there beta_1 = 1 / tau) and Corollary 2. The Gaussian phi(x / M) is not tempered and
    keeps the last level normalisable where beta_K is 0.

    Args:
        betas: beta_k, ``(K + 1,)``.
        scale: M, a scalar tensor, in the units of the states; None for no Gaussian.
    """

    def __init__(self, betas: Tensor, scale: Tensor | None = None) -> None:
        self.betas = betas
        self.precision = torch.zeros_like(self.betas)
        self.confined = scale is not None
        if scale is not None:
            self.precision[-1] = scale.square().reciprocal()

    def to(self, like: Tensor) -> Self:
        """A copy with the dtype and device of `like`."""
        moved = copy.copy(self)
        moved.betas, moved.precision = self.betas.to(like), self.precision.to(like)
        return moved

    def at(self, state: State, beta: Tensor) -> State:
        """Replicas as states of their levels: log pi_k and its gradient, with beta U in the place of U.

        Args:
            state: the replicas ``(K + 1, *batch, d)``, with U and its gradient.
            beta: inverse temperature of the whole ladder, broadcasting over the batch axes.
        """
        axes, like = state.log_prob.dim(), state.log_prob
        precision = along_first(self.precision, axes).to(like) if self.confined else None
        return confined(state, (beta * along_first(self.betas, axes)).to(like), precision)

    def swap_log_ratio(self, state: State, beta: Tensor) -> Tensor:
        """log of pi_k(y) pi_{k+1}(x) / (pi_k(x) pi_{k+1}(y)) for neighbours x, y; ReLD, Eqs. 4 and 5.

        Args:
            state: the replicas ``(K + 1, *batch, d)``, with U.
            beta: as in `at`.

        Returns:
            ``(K, *batch)``, not cut off at 0.
        """
        axes = state.log_prob.dim()
        ratio = beta * TemperedPath.log_swap_ratio(state.log_prob, along_first(self.betas, axes))
        if self.confined:
            length, precision = state.theta.square().sum(-1), along_first(self.precision, axes)
            ratio = ratio - 0.5 * (precision[:-1] - precision[1:]) * (length[1:] - length[:-1])
        return ratio


def confined(state: State, betas: Tensor, precision: Tensor | None) -> State:
    """`state` as one of levels: beta U(x) - precision |x|^2 / 2 and its gradient in the place of U's.

    Args:
        state: with U and its gradient.
        betas, precision: of each chain, broadcasting over the batch axes; None for no Gaussian.
    """
    assert state.grad is not None
    path = TemperedPath()
    log_prob = path.log_density(state.theta, state.log_prob, betas)
    grad = path.grad(state.grad, betas.unsqueeze(-1))
    if precision is not None:
        log_prob = log_prob - 0.5 * precision * state.theta.square().sum(-1)
        grad = torch.addcmul(grad, precision.unsqueeze(-1), state.theta, value=-1.0)
    # 0 times minus infinity would be NaN.
    return replace(state, log_prob=log_prob.masked_fill(state.log_prob.isneginf(), -torch.inf), grad=grad)
