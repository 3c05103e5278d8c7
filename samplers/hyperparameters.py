"""Checks of hyperparameters that constructors share: errors name the key, the value and what is allowed."""

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


def positive(key: str, value: Any, allowed: str = "a positive number") -> Tensor:
    """`value` as a float64 scalar tensor; a tensor is returned as it is.

    The numbers in a tensor are not looked at: that would wait for the device in every step.

    Raises:
        ValueError: if it is not a positive finite number.
    """
    if isinstance(value, Tensor):
        return value
    if not is_number(value) or not math.isfinite(value) or value <= 0:
        raise ValueError(f"{key} must be {allowed}, {value!r} was given")
    return torch.tensor(float(value), dtype=torch.float64)


def positive_or_auto(key: str, value: Any) -> Any:
    """`value` if it is ``auto`` or `positive` takes it; ValueError otherwise."""
    if not (isinstance(value, str) and value == AUTO):
        positive(key, value, "a positive number or 'auto'")
    return value


def within(key: str, value: Any, low: float, high: float) -> float:
    """`value` as a float in [low, high].

    Raises:
        ValueError: if it is not.
    """
    if not is_number(value) or not low <= value <= high:
        raise ValueError(f"{key} must be a number from {low:g} to {high:g}, {value!r} was given")
    return float(value)


def wanted_acceptance(value: Any, key: str = "acceptance") -> float:
    """An acceptance probability that a pilot may aim at; ValueError unless it is from 0.01 to 0.99."""
    return within(key, value, 0.01, 0.99)


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
