"""Inverse temperatures that rise along a run: the schedules of simulated annealing."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from targets.checks import is_number, one_of, positive_number, whole_number

DECAYS = 5.0
"""Of the exponential schedule: decay times of the temperature in a run."""


def annealing_schedule(steps: int, kind: str, hottest: float, coldest: float) -> Tensor:
    """Inverse temperatures from `hottest` to `coldest`, rising, ``(steps,)``, float64.

    Args:
        steps: how many.
        kind: ``linear`` in the inverse temperature; ``geometric``, in equal ratios, so that the temperature
            falls by the same share in every step; or ``exponential``, where the temperature approaches that
            of `coldest` exponentially, and comes near it early.
        hottest: the first inverse temperature; 0, an infinite temperature, for ``linear`` only.
        coldest: the last one; above 1 the target is sharpened.

    Raises:
        ValueError: naming the argument, the value and what is allowed.
    """
    build = SCHEDULES[one_of("schedule", kind, SCHEDULES)]
    whole_number("steps", steps, 2)
    last = positive_number("coldest", coldest)
    if not is_number(hottest) or not 0 <= hottest < last:
        raise ValueError(f"hottest must be at least 0 and below coldest={last:g}, {hottest!r} was given")
    if hottest == 0 and kind != "linear":
        raise ValueError(f"hottest must be above 0 for schedule={kind}, {hottest!r} was given")
    share = torch.linspace(0.0, 1.0, steps, dtype=torch.float64)
    return build(share, float(hottest), last)


def _linear(share: Tensor, hottest: float, coldest: float) -> Tensor:
    return hottest + (coldest - hottest) * share


def _geometric(share: Tensor, hottest: float, coldest: float) -> Tensor:
    return coldest * ((1.0 - share) * math.log(hottest / coldest)).exp()


def _exponential(share: Tensor, hottest: float, coldest: float) -> Tensor:
    left = ((-DECAYS * share).exp() - math.exp(-DECAYS)) / -math.expm1(-DECAYS)
    return 1.0 / (1.0 / coldest + (1.0 / hottest - 1.0 / coldest) * left)


SCHEDULES: dict[str, Callable[[Tensor, float, float], Tensor]] = {
    "linear": _linear,
    "geometric": _geometric,
    "exponential": _exponential,
}
"""From the share of the run that is over, the first and the last inverse temperature to those in between."""
