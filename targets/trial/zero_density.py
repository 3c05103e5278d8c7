"""What a target must say whose log density is minus infinity in some states."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from targets.randomness import Streams
from targets.target import Target

CONSTRAINED = (
    "give FunctionTarget(function, space, constrained=True), or set constrained = True in a class whose "
    "`initial` gives states of positive density"
)

STATES, NUMBERS = 1000, 2**20
"""Initial states that are looked at; fewer where they are more numbers than these."""


@torch.no_grad()
def zero_density_hint(target: Target, *seen: Tensor) -> str:
    """The end of a sentence about chains that met NaN or infinity on `target`: what may be the reason.

    Args:
        seen: log densities that the chains met.

    Returns:
        Nothing for a constrained target, and where neither `seen` nor initial states have a density of zero.
    """
    if target.constrained:
        return ""
    where = "states of the chains"
    if not any(bool(each.isneginf().any()) for each in seen):
        where = "initial states"
        number = max(2, min(STATES, NUMBERS // math.prod(target.space.event_shape)))
        theta = target.initial((1, number), Streams([0], "trial", target.like().device))
        if not bool(target.log_prob(theta).isneginf().any()):
            return ""
    return f"; it is -inf in some {where}, which only a constrained target may have: {CONSTRAINED}"
