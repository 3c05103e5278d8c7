"""The one Metropolis-Hastings acceptance of the house, in log space, shared by every adjusted sampler."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, State, choose, evaluate, tempered_rise
from samplers.proposals.tabulated_langevin import tabulated
from targets.randomness import Generator, uniform
from targets.spaces import Binary, Discrete, Space
from targets.target import Target


class Proposal(Protocol):
    """A law q(. | theta) that can be drawn from and evaluated by the same formula."""

    needs_gradient: bool

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        """A draw ``(*batch, *event_shape)`` from q(. | state) and its log probability ``(*batch)``."""
        ...

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log q(destination | source), shape ``(*batch)``."""
        ...


def jump_length(space: Space, old: Tensor, new: Tensor) -> Tensor:
    """Hamming distance on discrete spaces, Euclidean length on the reals, shape ``(*batch)``."""
    if isinstance(space, Binary):
        return torch.ne(new, old, out=torch.empty_like(new)).sum(-1)
    if isinstance(space, Discrete):
        return space.hamming(old, new)
    return (new - old).square().sum(-1).sqrt()


class MetropolisHastings(Kernel):
    """Metropolis-Hastings with a `proposal`, for exp(beta * log_prob); one target evaluation a step.

    The log acceptance ratio is beta [U(y) - U(x)] + log q(x | y) - log q(y | x) (PT-DLP v2, Eq. 6). A
    proposal whose log density is NaN is rejected, and the NaN stays visible in `Info.acceptance`.
    """

    exact = True

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal

    @property
    def needs_gradient(self) -> bool:
        return self.proposal.needs_gradient

    def prepared(self, target: Target, beta: Tensor) -> Kernel:
        # A subclass that moves or judges in its own way may not be led by this gradient.
        if (
            type(self).step is not MetropolisHastings.step
            or type(self)._log_acceptance is not MetropolisHastings._log_acceptance
        ):
            return self
        faster = tabulated(self.proposal, target, beta)
        return self if faster is None else MetropolisHastings(faster)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        return evaluate(target, theta, gradient=self.proposal.needs_gradient)

    def log_acceptance(self, space: Space, source: State, destination: State, beta: Tensor) -> Tensor:
        """log min(1, ratio) of the move, shape ``(*batch)``; the enumeration tests read it here."""
        forward = self.proposal.log_prob(space, source, destination.theta, beta)
        return self._log_acceptance(space, source, destination, beta, forward)

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        reverse = self.proposal.log_prob(space, destination, source.theta, beta)
        ratio = tempered_rise(source.log_prob, destination.log_prob, beta) + reverse - forward
        return ratio.clamp(max=0.0)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        theta, forward = self.proposal.propose(target.space, state, beta, generator)
        proposed = evaluate(target, theta, gradient=self.proposal.needs_gradient)
        acceptance = self._log_acceptance(target.space, state, proposed, beta, forward).exp()
        accepted = uniform(generator, acceptance.shape, like=acceptance) < acceptance
        after = choose(accepted, proposed, state)
        jump = jump_length(target.space, state.theta, after.theta)
        return after, Info(acceptance=acceptance, jump=jump, evaluations=1)


class Unadjusted(Kernel):
    """Takes every proposal: no acceptance, and so no exactness. One target evaluation a step.

    On a constrained target a chain stays where it is when it is sent to a state of density zero, as EDLP
    (section 6.2) does with tours that are none.
    """

    exact = False

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal

    @property
    def needs_gradient(self) -> bool:
        return self.proposal.needs_gradient

    def prepared(self, target: Target, beta: Tensor) -> Kernel:
        # A subclass that moves or judges in its own way may not be led by this gradient.
        if type(self).step is not Unadjusted.step:
            return self
        faster = tabulated(self.proposal, target, beta)
        return self if faster is None else Unadjusted(faster)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        return evaluate(target, theta, gradient=self.proposal.needs_gradient)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        theta, _ = self.proposal.propose(target.space, state, beta, generator)
        proposed = evaluate(target, theta, gradient=self.proposal.needs_gradient)
        after, acceptance = taken(target, proposed, state)
        jump = jump_length(target.space, state.theta, after.theta)
        return after, Info(acceptance=acceptance, jump=jump, evaluations=1)


def taken(target: Target, proposed: State, state: State) -> tuple[State, Tensor]:
    """`proposed` wherever it has density, and the acceptance ``(*batch)`` that says where."""
    if not target.constrained:
        return proposed, torch.ones_like(proposed.log_prob)
    possible = ~proposed.log_prob.isneginf()
    return choose(possible, proposed, state), possible.to(proposed.log_prob)
