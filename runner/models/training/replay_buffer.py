"""A replay buffer of persistent states, a few of which are used in every iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from targets import Discrete, Streams, Target
from targets.randomness import uniform

PIECE = 1000
"""Number of initial states drawn at a time, so that the whole buffer is never in floating point."""

LEVELS = 256
"""Number of levels that uint8 can represent."""


class ReplayBuffer:
    """Persistent states of all replicas of a kernel, stored as uint8.

    It is filled with draws of the target's `initial`. An iteration takes some chains, without replacement,
    and puts back their new states. Which chains are taken or reinitialised is drawn from streams of the seed
    and the iteration, so that only the states must be saved (Du and Mordatch 2019, section 3.2; settings
    D.2).

    An entry has the states of all replicas of one chain and nothing else: a kernel's auxiliary variables
    (labels of replicas, an auxiliary state) are drawn anew (`Kernel.drawn`).

    Args:
        model: the target, whose `initial` draws new chains.
        size: number of chains in the buffer.
        reinitialisation: probability that a chain that is taken is reinitialised, in all replicas.
        seed: of the initial states and of the choices.

    Attributes:
        states: ``(*axes, size, *event_shape)``, uint8, on the model's device; None before `begin`.

    Raises:
        ValueError: if the states do not fit into uint8.
    """

    def __init__(self, model: Target, size: int, reinitialisation: float, seed: int) -> None:
        space = model.space
        if not isinstance(space, Discrete) or space.levels > LEVELS:
            raise ValueError(
                f"buffer needs a discrete space of at most {LEVELS} levels a coordinate, {space} was given"
            )
        self.model, self.size, self.reinitialisation, self.seed = model, size, reinitialisation, seed
        self.like = model.like()
        self.states: Tensor | None = None
        self._rows = torch.empty(0, dtype=torch.int64)

    def begin(self, axes: Sequence[int]) -> None:
        """Fills the buffer with draws of the model's `initial`, for replicas of the shape `axes`."""
        streams = Streams([self.seed], "replay buffer", self.like.device)
        pieces = [
            self.model.initial((*axes, 1, min(PIECE, self.size - first)), streams).to(torch.uint8)
            for first in range(0, self.size, PIECE)
        ]
        self.states = torch.cat(pieces, len(axes) + 1).squeeze(len(axes))

    def take(self, chains: int, iteration: int) -> Tensor:
        """States of `chains` random entries, ``(*axes, 1, chains, *event_shape)``, in the model's dtype."""
        states, axis = self._filled(), self._chain_axis()
        streams = Streams([self.seed], f"replay buffer {iteration}", self.like.device)
        keys = streams.uniform((1, self.size), (), torch.float64)
        self._rows = keys[0].argsort(stable=True)[:chains]
        theta = states.index_select(axis, self._rows).unsqueeze(axis).to(self.like.dtype)
        if self.reinitialisation > 0:
            anew = uniform(streams, (1, chains), like=keys) < self.reinitialisation
            fresh = self.model.initial(theta.shape[: axis + 2], streams)
            theta = torch.where(anew.reshape(1, chains, *(1,) * (theta.dim() - axis - 2)), fresh, theta)
        return theta

    def put(self, theta: Tensor) -> None:
        """Stores `theta`, of the shape that `take` returned, in the entries that `take` chose."""
        axis = self._chain_axis()
        self._filled().index_copy_(axis, self._rows, theta.squeeze(axis).to(torch.uint8))

    def reindex(self, replicas: Tensor) -> None:
        """For a new ladder: rung r gets the states of the former rung ``replicas[r]``."""
        if self.states is not None:
            self.states = self.states[replicas]

    def state_dict(self) -> dict[str, Any]:
        """A copy of the states."""
        return {"states": None if self.states is None else self.states.clone()}

    def load_state_dict(self, saved: Mapping[str, Any], axes: Sequence[int]) -> None:
        """Continues with the states of `saved`.

        Raises:
            ValueError: if they have a different shape.
        """
        states, shape = saved["states"], (*axes, self.size, *self.model.space.event_shape)
        if states is not None and (states.dtype != torch.uint8 or tuple(states.shape) != shape):
            raise ValueError(f"the saved buffer has the shape {tuple(states.shape)}, it must be {shape}")
        self.states = None if states is None else states.to(self.like.device, copy=True)

    def _chain_axis(self) -> int:
        """The axis of `states` along which the chains are."""
        return self._filled().dim() - 1 - len(self.model.space.event_shape)

    def _filled(self) -> Tensor:
        assert self.states is not None, "begin() comes first"
        return self.states
