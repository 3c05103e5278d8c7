"""A replay buffer: many persistent states, of which every iteration moves a few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from targets.randomness import Streams, uniform
from targets.spaces import Discrete
from targets.target import Target

PIECE = 1000
"""States that are drawn at once in the beginning, so that a large buffer is never held in floating point."""

LEVELS = 256
"""How many levels uint8 tells apart."""


class ReplayBuffer:
    """Persistent states, for every replica of a kernel, kept as uint8.

    It begins with draws from the target's own start. An iteration takes some states, without replacement,
    and puts back where they have got to. What is taken, and which of it starts anew, is drawn from streams
    of the seed and the iteration alone, so that nothing but the states must be saved (Du and Mordatch
    2019, section 3.2; experiments D.2).

    A place holds the states of all replicas of one chain. It holds nothing else: what a kernel remembers
    of a chain besides (labels of replicas, an auxiliary variable) is drawn anew by the kernel's `init`.

    Args:
        model: says how a chain starts.
        size: how many places there are.
        reinitialisation: probability that a chain that is taken starts anew, in all replicas.
        seed: of the start and of what is taken.

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
        """Fills every place with draws from the model's own start, for replicas of the shape `axes`."""
        streams = Streams([self.seed], "replay buffer", self.like.device)
        pieces = [
            self.model.initial((*axes, 1, min(PIECE, self.size - first)), streams).to(torch.uint8)
            for first in range(0, self.size, PIECE)
        ]
        self.states = torch.cat(pieces, len(axes) + 1).squeeze(len(axes))

    def take(self, chains: int, iteration: int) -> Tensor:
        """States of `chains` places, ``(*axes, 1, chains, *event_shape)``, in the model's dtype."""
        states, seat = self._held(), self._seat()
        streams = Streams([self.seed], f"replay buffer {iteration}", self.like.device)
        keys = streams.uniform((1, self.size), (), torch.float64)
        self._rows = keys[0].argsort(stable=True)[:chains]
        theta = states.index_select(seat, self._rows).unsqueeze(seat).to(self.like.dtype)
        if self.reinitialisation > 0:
            anew = uniform(streams, (1, chains), like=keys) < self.reinitialisation
            fresh = self.model.initial(theta.shape[: seat + 2], streams)
            theta = torch.where(anew.reshape(1, chains, *(1,) * (theta.dim() - seat - 2)), fresh, theta)
        return theta

    def put(self, theta: Tensor) -> None:
        """Keeps `theta`, of the shape that `take` gave, in the places that it was taken from."""
        seat = self._seat()
        self._held().index_copy_(seat, self._rows, theta.squeeze(seat).to(torch.uint8))

    def reindex(self, replicas: Tensor) -> None:
        """Another ladder: rung r takes over the states of the former rung ``replicas[r]``."""
        if self.states is not None:
            self.states = self.states[replicas]

    def state_dict(self) -> dict[str, Any]:
        """A copy of the states."""
        return {"states": None if self.states is None else self.states.clone()}

    def load_state_dict(self, saved: Mapping[str, Any], axes: Sequence[int]) -> None:
        """Continues with the states of `saved`.

        Raises:
            ValueError: if they have another shape.
        """
        states, shape = saved["states"], (*axes, self.size, *self.model.space.event_shape)
        if states is not None and (states.dtype != torch.uint8 or tuple(states.shape) != shape):
            raise ValueError(f"the saved buffer has the shape {tuple(states.shape)}, it must be {shape}")
        self.states = None if states is None else states.to(self.like.device, copy=True)

    def _seat(self) -> int:
        """Which axis of `states` counts the places."""
        return self._held().dim() - 1 - len(self.model.space.event_shape)

    def _held(self) -> Tensor:
        assert self.states is not None, "begin() comes first"
        return self.states
