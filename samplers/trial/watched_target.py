"""A stand-in for a target that notes what evaluates it."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from torch import Tensor

from targets.target import Target

EVALUATIONS = ("log_prob", "log_prob_and_grad", "log_prob_and_differences", "noisy_log_prob")
"""The methods of a target that evaluate it."""

T = TypeVar("T", bound=Target)
Calls = list[tuple[str, Tensor]]


def watched_target(target: T, calls: Calls) -> T:
    """A copy of `target` that notes its evaluations, but not those that its own methods make."""
    watched = copy.copy(target)
    for method, _ in inspect.getmembers(type(target), inspect.isfunction):
        if not method.startswith("_"):
            vars(watched)[method] = getattr(target, method)
    for method in EVALUATIONS:
        if hasattr(target, method):
            vars(watched)[method] = _noted(method, getattr(target, method), calls)
    return watched


def _noted(name: str, method: Callable[..., Any], calls: Calls) -> Callable[..., Any]:
    def noted(theta: Tensor, *others: Any, **named: Any) -> Any:
        calls.append((name, theta.clone()))
        return method(theta, *others, **named)

    return noted
