"""States on which a target is tried, beside those that chains begin at."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from targets.randomness import Streams
from targets.spaces import Discrete
from targets.target import Target

MOST, NUMBERS = 24, 2**13
"""Starting states, and as many uniform ones; fewer where so many numbers are not enough for them."""


def some_states(target: Target) -> Tensor:
    """States ``(number, *event_shape)``: starting states, and on discrete spaces uniform and constant ones.

    They have random numbers of their own, so that those of a run stay what they are.
    """
    like, space = target.like(), target.space
    streams = Streams([0], "trial", like.device)
    number = max(2, min(MOST, NUMBERS // math.prod(space.event_shape)))
    states = [target.initial((1, number), streams)[0]]
    if isinstance(space, Discrete):
        levels = torch.tensor([0, space.levels - 1], device=like.device).unsqueeze(-1).expand(2, space.d)
        states += [
            space.initial((1, number), streams, like=like)[0],
            space.from_levels(levels, like.dtype),
        ]
    return torch.cat(states)
