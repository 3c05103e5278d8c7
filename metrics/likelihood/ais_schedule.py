"""Sequences of inverse temperatures for annealed importance sampling, from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from targets.checks import is_number, one_of

FEWEST_STEPS = 2
"""Minimum for annealing: one step is importance sampling from the reference distribution."""

STEEPNESS = 4.0
"""Of the sigmoid schedule: its argument runs from -4 to 4 (Grosse, Ghahramani and Adams 2015)."""

PIECES = ((0, 0.0), (500, 0.5), (4_500, 0.9), (14_500, 1.0))
"""Steps and inverse temperatures at the knots of the schedule of Salakhutdinov and Murray (2008)."""


def schedule(temperatures: int | Sequence[float], kind: str = "linear", fewest: int = 1) -> Tensor:
    """The inverse temperatures, strictly increasing from exactly 0 to exactly 1, float64 on the CPU.

    Args:
        temperatures: number of annealing steps, one less than the number of inverse temperatures that are
            returned; or a sequence of all inverse temperatures, which is checked and returned.
        kind: spacing for a given number: ``linear``; ``sigmoid``, dense at both ends; or ``pieces``, three
            linear pieces that get denser towards 1.
        fewest: minimum number of steps.

    Raises:
        ValueError: if `temperatures` is neither an integer of at least `fewest` nor such a sequence, or if
            `kind` is unknown.
    """
    build = SCHEDULES[one_of("schedule", kind, SCHEDULES)]
    if isinstance(temperatures, int) and not isinstance(temperatures, bool) and temperatures >= fewest:
        shares = [step / temperatures for step in range(1, temperatures)]
        temperatures = [0.0, *(build(share) for share in shares), 1.0]
    fault = _fault(temperatures, fewest)
    if fault:
        raise ValueError(
            f"temperatures must be a whole number of at least {fewest} or a schedule that increases strictly "
            f"from 0 to 1, {fault} was given"
        )
    assert isinstance(temperatures, Sequence)
    return torch.tensor([float(beta) for beta in temperatures], dtype=torch.float64)


def _fault(betas: Any, fewest: int) -> str:
    """What is wrong with a sequence of inverse temperatures, in a few words; empty if it is valid."""
    if isinstance(betas, str) or not isinstance(betas, Sequence) or len(betas) < 2:
        return repr(betas)
    for beta in betas:
        if not is_number(beta):
            return f"a schedule with {beta!r}"
    for before, after in pairwise(betas):
        if not before < after:
            return f"a schedule with {before!r} followed by {after!r}"
    if betas[0] != 0 or betas[-1] != 1:
        return f"a schedule from {betas[0]!r} to {betas[-1]!r}"
    if len(betas) <= fewest:
        return f"a schedule of {len(betas) - 1} step{'s' if len(betas) > 2 else ''}"
    return ""


def _linear(share: float) -> float:
    return share


def _sigmoid(share: float) -> float:
    # The normalised logistic function; tanh keeps it symmetric about 1/2 to rounding.
    return 0.5 + 0.5 * math.tanh(STEEPNESS * (share - 0.5)) / math.tanh(STEEPNESS / 2.0)


def _pieces(share: float) -> float:
    step = share * PIECES[-1][0]
    (begin, low), (end, high) = next(piece for piece in pairwise(PIECES) if step <= piece[1][0])
    return low + (high - low) * (step - begin) / (end - begin)


SCHEDULES: dict[str, Callable[[float], float]] = {"linear": _linear, "sigmoid": _sigmoid, "pieces": _pieces}
"""By name of a schedule: the inverse temperature after a given fraction of the steps, both in (0, 1)."""
