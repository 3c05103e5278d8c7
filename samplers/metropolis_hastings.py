"""Metropolis-Hastings: the acceptance step in log space that every adjusted sampler shares."""

from __future__ import annotations

from typing import Protocol, Self, runtime_checkable

import torch
from torch import Tensor

from samplers.choice import choose
from samplers.inverse_temperatures import tempered_log_ratio
from samplers.kernel import Info, Kernel, State, evaluate
from samplers.proposals.few_differences import OfDifferences, difference_table
from samplers.proposals.kept_weights import Keepable, KeptWeights
from targets.randomness import Generator, uniform
from targets.spaces import Binary, Discrete, Space
from targets.target import Target


class Proposal(Protocol):
    """A distribution q(. | theta) that can be drawn from and evaluated by the same formula."""

    needs_gradient: bool

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        """A draw ``(*batch, *event_shape)`` from q(. | state) and its log probability ``(*batch)``."""
        ...

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log q(destination | source), shape ``(*batch)``."""
        ...


@runtime_checkable
class Tabulable(Protocol):
    """A proposal that can be looked up in tables instead of being computed, on small targets."""

    def tabulated(self, target: Target, beta: Tensor) -> Proposal | None:
        """The same proposal from tables, for this target and `beta` alone; None where there is none."""
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

    Args:
        proposal: q.
        adjusted: whether proposals are accepted or rejected. If not, every proposal is taken, and the kernel
            is not exact; on a constrained target a chain stays where it is instead of moving to a state of
            density zero, as EDLP (section 6.2) does with invalid tours.
    """

    exact = True

    def __init__(self, proposal: Proposal, adjusted: bool = True) -> None:
        self.proposal = proposal
        self.adjusted, self.exact = adjusted, claims_exact(type(self), adjusted)

    @property
    def needs_gradient(self) -> bool:
        return self.proposal.needs_gradient

    def specialised(self, target: Target) -> Self:
        """With a table of the changes of U by one flip, if they are few and `evaluated` is this class's."""
        return self if overridden(self, MetropolisHastings, "evaluated") else self._with_table(target)

    def _with_table(self, target: Target) -> Self:
        if not isinstance(self.proposal, OfDifferences) or (table := difference_table(target)) is None:
            return self
        faster = self.proposal.with_table(table)
        return self if faster is self.proposal else self.prepared_copy(target, proposal=faster)

    def prepared(self, target: Target, beta: Tensor) -> Kernel:
        """With a faster proposal in place of its own, unless a subclass moves in another way than this class.

        It has tables, or keeps its weights in the states. A ladder's would be those of another temperature
        after a swap.
        """
        known = self if beta.dim() else self.specialised(target)
        acceptance = ("_log_acceptance",) if self.adjusted else ()
        if overridden(self, MetropolisHastings, "init", "step", *acceptance):
            return known
        proposal, found = known.proposal, None
        if isinstance(proposal, Tabulable) and not overridden(self, MetropolisHastings, "evaluated"):
            found = proposal.tabulated(target, beta)
        if found is None and self.adjusted and not beta.dim() and isinstance(proposal, Keepable):
            found = KeptWeights(proposal, beta) if proposal.weight_names(target.space) else None
        return known if found is None else self.prepared_copy(target, proposal=found)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        return self._weighed(target.space, self.evaluated(target, theta))

    def _weighed(self, space: Space, state: State) -> State:
        """`state` with what a prepared proposal keeps in it."""
        return self.proposal.weighed(space, state) if isinstance(self.proposal, KeptWeights) else state

    def evaluated(self, target: Target, theta: Tensor) -> State:
        """The state at `theta`, with what the proposal needs, from one evaluation of the target."""
        return evaluate(target, theta, gradient=self.proposal.needs_gradient)

    def log_acceptance(self, space: Space, source: State, destination: State, beta: Tensor) -> Tensor:
        """log min(1, ratio) of the move, shape ``(*batch)``; the enumeration tests read it here."""
        forward = self.proposal.log_prob(space, source, destination.theta, beta)
        return self._log_acceptance(space, source, destination, beta, forward)

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        reverse = self.proposal.log_prob(space, destination, source.theta, beta)
        ratio = tempered_log_ratio(source.log_prob, destination.log_prob, beta) + reverse - forward
        return ratio.clamp(max=0.0)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        state = self._weighed(target.space, state)
        theta, forward = self.proposal.propose(target.space, state, beta, generator)
        proposed = self._weighed(target.space, self.evaluated(target, theta))
        if self.adjusted:
            log_acceptance = self._log_acceptance(target.space, state, proposed, beta, forward)
            after, acceptance = accepted(log_acceptance, proposed, state, generator)
        else:
            after, acceptance = taken(target, proposed, state)
        jump = jump_length(target.space, state.theta, after.theta)
        return after, Info(acceptance=acceptance, jump=jump, evaluations=1)


def overridden(kernel: Kernel, base: type, *parts: str) -> bool:
    """Whether the class of `kernel`, a subclass of `base`, has methods of these names of its own."""
    return any(getattr(type(kernel), part) is not getattr(base, part) for part in parts)


def claims_exact(cls: type[Kernel], adjusted: bool) -> bool:
    """Whether a kernel of `cls` claims to be exact: `cls` does, and is adjusted or sets `exact` itself.

    Raises:
        ValueError: if `adjusted` is no truth value.
    """
    if not isinstance(adjusted, bool):
        raise ValueError(f"adjusted must be true or false, {adjusted!r} was given")
    says_so = cls is not MetropolisHastings and "exact" in vars(cls)
    return cls.exact and (adjusted or says_so)


def accepted(
    log_acceptance: Tensor, proposed: State, state: State, generator: Generator
) -> tuple[State, Tensor]:
    """`proposed` with the probability whose logarithm ``(*batch)`` is given, else `state`; and it."""
    acceptance = log_acceptance.exp()
    moves = uniform(generator, acceptance.shape, like=acceptance) < acceptance
    return choose(moves, proposed, state), acceptance


def taken(target: Target, proposed: State, state: State) -> tuple[State, Tensor]:
    """`proposed` wherever it has density, and the acceptance ``(*batch)`` that says where."""
    if not target.constrained:
        return proposed, torch.ones_like(proposed.log_prob)
    possible = ~proposed.log_prob.isneginf()
    return choose(possible, proposed, state), possible.to(proposed.log_prob)
