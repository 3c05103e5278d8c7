"""States on which a target is tried, beside those that chains begin at."""

from __future__ import annotations

import torch
from torch import Tensor

from targets.randomness import Streams
from targets.spaces import Discrete
from targets.target import Target

STATES = 24
"""Starting states, and as many of each other kind."""


def some_states(target: Target) -> Tensor:
    """States ``(number, *event_shape)``: starting states, and on discrete spaces uniform and constant ones.

    They have random numbers of their own, so that those of a run stay what they are.
    """
    like, space = target.like(), target.space
    streams = Streams([0], "trial", like.device)
    states = [target.initial((1, STATES), streams)[0]]
    if isinstance(space, Discrete):
        levels = torch.tensor([0, space.levels - 1], device=like.device).unsqueeze(-1).expand(2, space.d)
        states += [
            space.initial((1, STATES), streams, like=like)[0],
            space.from_levels(levels, like.dtype),
        ]
    return torch.cat(states)
