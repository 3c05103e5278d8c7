"""Tries the probabilities that a target gives: whether they are those of its log density."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from targets.checks import described
from targets.spaces import Discrete
from targets.target import Target
from targets.trial.failures import failure

MOST, TRIED = 2**16, 1024
"""States up to which a target's probabilities are looked at, and how many of them."""

IMPOSSIBLE = 1e-12
"""Probabilities below this share of the largest one may be rounded to zero: their size says nothing."""

FREQUENT = 1e-6
"""States whose density is a larger share of the largest one may have no probability as small as that."""


def try_probabilities(name: str, target: Target) -> None:
    """Refuses a target whose `probabilities` are no distribution, or not that of its log density.

    Metrics compare draws with them. Looks at `TRIED` states at most, and at no target of more than `MOST`.

    Args:
        name: what the target is called in the message.

    Raises:
        ValueError: naming what it gave and what was expected, in one sentence.
    """
    space = target.space
    given: Any = getattr(target, "probabilities", None)
    if given is not None and not callable(given):
        raise ValueError(
            f"The probabilities of {name} must be a method that gives them, not {described(given)}; a buffer "
            "needs another name."
        )
    if given is None or not isinstance(space, Discrete) or space.size > MOST:
        return
    try:
        found = given()
    except Exception as error:
        raise ValueError(f"The probabilities of {name} cannot be evaluated: {failure(error)}.") from error
    if not isinstance(found, Tensor) or tuple(found.shape) != (space.size,):
        got = f"shape {tuple(found.shape)}" if isinstance(found, Tensor) else described(found)
        raise ValueError(f"The probabilities of {name} must have the shape {(space.size,)}, not {got}.")
    found = found.double()
    total = float(found.sum())
    if not bool((found >= 0).all()) or not abs(total - 1.0) <= 1e-4:
        raise ValueError(
            f"The probabilities of {name} must be at least 0 and sum to 1; the smallest is "
            f"{float(found.min()):.6g} and their sum {total:.6g}."
        )
    index = torch.linspace(0, space.size - 1, min(space.size, TRIED), device=found.device).long()
    states = space.at(index, target.like().dtype).to(target.like().device)
    own = target.log_prob(states).double()
    known = found[index].to(own.device)
    likely = known > IMPOSSIBLE * float(known.max())
    if not bool(likely.any()):
        return
    room = 0.01 + 1e-5 * float(own[likely].abs().max())
    _refuse_spread(name, (known.log() - own)[likely], room)
    _refuse_missing(name, states, own, known, ~likely, room)


def _refuse_spread(name: str, off: Tensor, room: float) -> None:
    """Refuses log p - log_prob that is another number from state to state."""
    spread = float(off.max() - off.min())
    if not spread <= room:
        raise ValueError(
            f"The probabilities of {name} are not those of its log density: log p - log_prob must be the "
            f"same for all states and differs by {spread:.3g}."
        )


def _refuse_missing(
    name: str, states: Tensor, own: Tensor, known: Tensor, unlikely: Tensor, room: float
) -> None:
    """Refuses a probability of nearly zero of a state that is as dense as others with a larger one."""
    below = own.max() - own
    # Where all of these states are rare, their right probabilities may be too small for the dtype.
    kept = known.max() * (-below).exp() > torch.finfo(states.dtype).tiny
    missing = unlikely & kept & (below < -math.log(FREQUENT) - room)
    if bool(missing.any()):
        state = states[missing][0].flatten()[:8].tolist()
        raise ValueError(
            f"The probabilities of {name} are not those of its log density: the state {state} has the "
            f"probability {float(known[missing][0]):.3g}, though its log density is only "
            f"{float(below[missing][0]):.3g} below the largest."
        )
