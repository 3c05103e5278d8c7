"""The entropic discrete Langevin proposal (EDLP, section 4): theta and an auxiliary variable theta_a.

The joint distribution at inverse temperature beta is

    p(theta, theta_a) is proportional to exp{ beta U(theta) - |theta - theta_a|^2 / (2 eta) }     (Eq. 4)

whose theta-margin is exp(beta U) for every eta. Only U is tempered, so that the coupling cancels where
replicas of two temperatures swap theta and theta_a together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

from samplers.kernel import State
from samplers.moved_copy import moved_copy
from samplers.proposals.discrete_langevin import LangevinProposal
from targets.compiling.tracing import is_traced, stored
from targets.randomness import Generator, normal
from targets.spaces import Space

THETA_A = "theta_a"
"""Key in ``State.aux`` of the auxiliary variable theta_a, like theta."""


class EntropicLangevin:
    """How theta and theta_a move; in terms of the gap r = theta - theta_a, like theta.

    theta moves by the discrete Langevin proposal along beta grad U - r / eta (Eqs. 7, 8). theta_a takes the
    Langevin step theta_a + s r + sqrt(alpha_a) xi with s = alpha_a / (2 eta) (Eq. 6), or is drawn anew from
    its conditional N(theta, eta I) (appendix B).

    Args:
        step_size: alpha, a tensor that broadcasts over the batch axes.
        eta: eta > 0, the variance of theta_a around theta, in squared state units.
        auxiliary_step_size: alpha_a > 0; None where theta_a is always drawn from its conditional.
    """

    def __init__(self, step_size: Tensor, eta: float, auxiliary_step_size: float | None = None) -> None:
        self.eta, self.auxiliary_step_size = eta, auxiliary_step_size
        self.langevin = LangevinProposal(step_size)

    def to(self, like: Tensor) -> Self:
        """A copy whose hyperparameters have the dtype and device of `like`."""
        return moved_copy(self, like)

    def propose(
        self,
        space: Space,
        state: State,
        gap: Tensor,
        beta: Tensor,
        generator: Generator,
        weights: Mapping[str, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """theta' and log q(theta' | theta, theta_a), ``(*batch)``; Eq. 8.

        Args:
            weights: those of `state`, where they are known.
        """
        drift = self._drift(state, gap, beta)
        theta, log_prob = self.langevin.propose_along(space, state, drift, generator, weights)
        return stored(theta), log_prob  # else a compiled step computes it again in each loop

    def log_prob(
        self,
        space: Space,
        source: State,
        gap: Tensor,
        destination: Tensor,
        beta: Tensor,
        weights: Mapping[str, Tensor] | None = None,
    ) -> Tensor:
        """log q(destination | source, gap), ``(*batch)``; Eq. 8. `weights` are those of `source`."""
        drift = self._drift(source, gap, beta)
        return self.langevin.log_prob_along(space, source, drift, destination, weights)

    def weight_names(self, space: Space) -> frozenset[str]:
        """Names of the `weights`; none for a subclass, which may move otherwise."""
        return self.langevin.weight_names(space) if type(self) is EntropicLangevin else frozenset()

    def weights(self, state: State, beta: Tensor) -> Mapping[str, Tensor]:
        """What all moves of bits from `state` share, as `LangevinProposal.weights`."""
        gap = state.theta - state.aux[THETA_A]
        return self.langevin.weights_along(state, self._drift(state, gap, beta))

    def move_auxiliary(self, theta_a: Tensor, gap: Tensor, batch: torch.Size, generator: Generator) -> Tensor:
        """theta_a' of the Langevin step, like theta; Eq. 6."""
        assert self.auxiliary_step_size is not None
        event = gap.shape[len(batch) :]
        noise = normal(generator, batch, event, like=gap, std=math.sqrt(self.auxiliary_step_size))
        return stored(noise.add_(theta_a).add_(gap, alpha=self._pull))

    def draw_gap(self, theta: Tensor, batch: torch.Size, generator: Generator) -> Tensor:
        """theta - theta_a for theta_a drawn from N(theta, eta I), like `theta`; appendix B."""
        return normal(generator, batch, theta.shape[len(batch) :], like=theta, std=math.sqrt(self.eta))

    def log_joint_ratio(self, move: Tensor, before: Tensor, after: Tensor, batch: int) -> Tensor:
        """What theta_a adds to the log acceptance ratio of a joint move, ``(*batch)``.

        That is log q_a(theta_a | theta', theta_a') - log q_a(theta_a' | theta, theta_a) + (|r|^2 - |r'|^2) /
        (2 eta). With r' - r = d - (theta_a' - theta_a) for d = theta' - theta it comes to
        -(r + r') . (2 d + s (r' - r)) / (4 eta): no large terms cancel, and nothing is divided by alpha_a.

        Args:
            move: d, like theta.
            before, after: the gaps r and r'.
            batch: how many batch axes there are.
        """
        drift = torch.sub(after, before).mul_(self._pull).add_(move, alpha=2.0)
        terms = drift.mul_(before + after)
        return terms.flatten(batch).sum(-1).mul_(-0.25 / self.eta)

    def log_conditional_ratio(self, move: Tensor, before: Tensor, batch: int) -> Tensor:
        """(|r|^2 - |r + d|^2) / (2 eta), where theta_a stays; see `log_joint_ratio`."""
        terms = torch.add(move, before, alpha=2.0).mul_(move)
        return terms.flatten(batch).sum(-1).mul_(-0.5 / self.eta)

    @property
    def _pull(self) -> float:
        """s = alpha_a / (2 eta)."""
        assert self.auxiliary_step_size is not None
        return 0.5 * self.auxiliary_step_size / self.eta

    def _drift(self, state: State, gap: Tensor, beta: Tensor) -> Tensor:
        """Half the gradient of the joint log density in theta, (beta dU - r / eta) / 2; Eq. 5."""
        drift = self.langevin.drift(state, beta)
        return torch.add(drift, gap, alpha=-0.5 / self.eta, out=None if is_traced() else drift)
