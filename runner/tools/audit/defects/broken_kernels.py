"""Swap rules and acceptances as printed or released, beside the right ones of `samplers` (I, rows 1 to 6)."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from metrics.enumeration.transition_matrix import stationary
from samplers import MetropolisHastings, State, Swaps
from samplers.tempering.swaps.swap_rules import ReleasedRule, SwapRule, V1LiteralRule
from targets import Discrete, Space, Target


class V1WithMinimum(V1LiteralRule):
    """PT-DLP v1, Eq. 6 with min{1, .} in place of max{1, .}; its sign, which suits exp(-U), is kept."""

    always = False


class V1SignOnCurrentStates(SwapRule):
    """The Metropolis rule with the sign of v1: energies of the current states, the wrong way round."""

    exact = False
    sign = -1.0


def swaps_with(rule: type[SwapRule]) -> Swaps:
    """Swaps from cold to hot, as PT-DLP's Algorithm 1 prints them, by any rule."""
    swaps = Swaps(pairing="sequential")
    swaps.rule = rule()
    return swaps


def released_cold_distribution(target: Target, local: list[Tensor], betas: tuple[float, float]) -> Tensor:
    """The stationary distribution of the cold rung under the released rule with two rungs, ``(size,)``.

    The rule remembers the energies that stood on the rungs before the last swap. Those are the energies of
    the present states, the other way round if that swap was accepted, so (accepted, cold, hot) is a Markov
    chain on 2 size^2 states, whose stationary distribution is computed exactly.

    Args:
        target: on an enumerable space.
        local: the transition matrix of each rung's local move.
        betas: inverse temperatures of the two rungs.
    """
    assert isinstance(target.space, Discrete)
    energy = target.log_prob(target.space.states())
    size = len(energy)
    hotter_minus_colder = energy.unsqueeze(0) - energy.unsqueeze(1)
    moved = torch.einsum("ac,bd->abcd", *local)
    chain = torch.zeros((2, size, size, 2, size, size), dtype=torch.float64)
    for accepted in (0, 1):
        remembered = hotter_minus_colder.T if accepted else hotter_minus_colder
        difference = hotter_minus_colder + remembered[:, :, None, None]
        chance = (ReleasedRule.sign * (betas[0] - betas[1]) * difference).clamp(max=0.0).exp()
        chain[accepted, :, :, 0] = moved * (1 - chance)
        chain[accepted, :, :, 1] = (moved * chance).transpose(2, 3)
    joint = stationary(chain.reshape(2 * size**2, 2 * size**2))
    return joint.reshape(2, size, size).sum((0, 2))


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
