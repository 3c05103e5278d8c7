"""Checks of hyperparameters that constructors share: errors name the key, the value and what is allowed."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from targets.checks import positive_number, within

AUTO = "auto"


def positive(key: str, value: Any, allowed: str = "a positive number") -> Tensor:
    """`value` as a float64 scalar tensor; a tensor is returned as it is.

    The numbers in a tensor are not looked at: that would wait for the device in every step.

    Raises:
        ValueError: if it is not a positive finite number.
    """
    if isinstance(value, Tensor):
        return value
    return torch.tensor(positive_number(key, value, allowed), dtype=torch.float64)


def positive_or_auto(key: str, value: Any) -> Any:
    """`value` if it is ``auto`` or `positive` takes it; ValueError otherwise."""
    if not (isinstance(value, str) and value == AUTO):
        positive(key, value, "a positive number or 'auto'")
    return value


def wanted_acceptance(value: Any, key: str = "acceptance") -> float:
    """An acceptance probability that a pilot may aim at; ValueError unless it is from 0.01 to 0.99."""
    return within(key, value, 0.01, 0.99)
