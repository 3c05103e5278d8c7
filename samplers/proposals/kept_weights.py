"""A proposal whose weights at a state stay in the state: what a move back needs, the next move needs, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol, runtime_checkable

from torch import Tensor

from samplers.kernel import State
from samplers.moved_copy import Movable
from samplers.proposals.prepared_beta import PreparedBeta
from samplers.served import CacheMark
from targets.randomness import Generator
from targets.spaces import Space


@runtime_checkable
class Keepable(Protocol):
    """A proposal that computes most of q(. | state) before it knows which move it is."""

    needs_gradient: bool

    def weight_names(self, space: Space) -> frozenset[str]:
        """Those of `weights` on this space; none where there is nothing to keep."""
        ...

    def weights(self, space: Space, state: State, beta: Tensor) -> Mapping[str, Tensor]:
        """What all moves from `state` share: floating-point tensors by name, ``(*batch)`` or like theta."""
        ...

    def propose_weighed(
        self, space: Space, state: State, beta: Tensor, weights: Mapping[str, Tensor], generator: Generator
    ) -> tuple[Tensor, Tensor]:
        """A draw ``(*batch, *event_shape)`` from q(. | state) and its log probability ``(*batch)``."""
        ...

    def log_prob_weighed(
        self, space: Space, source: State, destination: Tensor, beta: Tensor, weights: Mapping[str, Tensor]
    ) -> Tensor:
        """log q(destination | source), shape ``(*batch)``."""
        ...


class KeptWeights:
    """`proposal` at the inverse temperature `beta`, with its weights in ``State.aux``.

    A step of Metropolis-Hastings weighs the proposed state for the move back. Whichever state it ends in, its
    weights are known then, and each step weighs one state instead of two. The bits are those of `proposal`.

    Args:
        proposal: with hyperparameters that do not change.
        beta: a scalar, the only inverse temperature that it serves.
    """

    def __init__(self, proposal: Keepable, beta: Tensor) -> None:
        self.proposal, self._beta, self._prepared = proposal, beta, PreparedBeta(beta)
        self.needs_gradient, self._mark = proposal.needs_gradient, CacheMark()

    def to(self, like: Tensor) -> KeptWeights:
        """A copy whose hyperparameters have the dtype and device of `like`."""
        moved = self.proposal.to(like) if isinstance(self.proposal, Movable) else self.proposal
        return KeptWeights(moved, self._beta.to(like))

    def weighed(self, space: Space, state: State) -> State:
        """`state` with the weights of the moves that leave it; computed if it has none.

        Raises:
            ValueError: if it has those of another prepared kernel.
        """
        if self._mark.owns(state.cached_by):
            return state
        weights = self.proposal.weights(space, state, self._beta)
        return replace(state, aux={**state.aux, **weights}, cached_by=self._mark.text)

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        self._prepared.check(beta)
        weights = self.weighed(space, state).aux
        return self.proposal.propose_weighed(space, state, beta, weights, generator)

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        self._prepared.check(beta)
        weights = self.weighed(space, source).aux
        return self.proposal.log_prob_weighed(space, source, destination, beta, weights)
