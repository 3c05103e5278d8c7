"""Checks that constructors share: a hyperparameter is a positive number, or it is left to tuning."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

AUTO = "auto"


def is_number(value: Any) -> bool:
    """Whether `value` is a real number, booleans not counted."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def positive(key: str, value: Any, *, auto: bool = False) -> Tensor | None:
    """`value` as a float64 scalar tensor, None for ``auto`` where that is allowed.

    Raises:
        ValueError: if it is not a positive finite number.
    """
    if auto and value == AUTO:
        return None
    if not is_number(value) or not math.isfinite(value) or value <= 0:
        allowed = "a positive number or 'auto'" if auto else "a positive number"
        raise ValueError(f"{key} must be {allowed}, {value!r} was given")
    return torch.tensor(float(value), dtype=torch.float64)


def within(key: str, value: Any, low: float, high: float) -> float:
    """`value` as a float in [low, high].

    Raises:
        ValueError: if it is not.
    """
    if not is_number(value) or not low <= value <= high:
        raise ValueError(f"{key} must be a number from {low:g} to {high:g}, {value!r} was given")
    return float(value)


def count(key: str, value: Any, minimum: int = 1) -> int:
    """`value` as an int that is at least `minimum`.

    Raises:
        ValueError: if it is not.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
        raise ValueError(f"{key} must be a whole number of at least {minimum}, {value!r} was given")
    return value


def one_of(key: str, value: Any, allowed: Iterable[str]) -> str:
    """`value` if it is among `allowed`.

    Raises:
        ValueError: otherwise, with the nearest allowed name.
    """
    names = sorted(allowed)
    if value in names:
        return str(value)
    near = difflib.get_close_matches(str(value), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{key} must be one of {', '.join(names)}, {value!r} was given{hint}")
