"""The acceptance of the released code, its two defects one by one and together (I, rows 5, 6)."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from samplers.kernel import State
from samplers.metropolis_hastings import MetropolisHastings
from targets.spaces import Space


class AcceptanceWithoutBeta(MetropolisHastings):
    """The energy difference is not tempered: every rung targets beta = 1 (`samplers.py:117-118`)."""

    exact = False

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        reverse = self.proposal.log_prob(space, destination, source.theta, beta)
        ratio = destination.log_prob - source.log_prob + reverse - forward
        return ratio.clamp(max=0.0)


class ReverseScaledTwice(MetropolisHastings):
    """The reverse gradient carries beta / 2 already and is scaled by it again (`:97`, `:113-114`)."""

    exact = False

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        assert destination.grad is not None
        scale = (0.5 * beta).expand(destination.log_prob.shape)
        scale = scale.reshape(scale.shape + (1,) * (destination.grad.dim() - scale.dim()))
        scaled = replace(destination, grad=scale * destination.grad)
        return super()._log_acceptance(space, source, scaled, beta, forward)


class ReleasedAcceptance(ReverseScaledTwice, AcceptanceWithoutBeta):
    """Both defects at once: the Metropolis-Hastings step of the released PTDLP."""
