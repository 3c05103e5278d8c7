"""Balancing functions: g(t) = t g(1/t) makes the proposal g(pi(y) / pi(x)) locally balanced (Zanella 2020).

Each takes log t and gives log g(t), elementwise, so that no ratio of densities overflows.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from targets.checks import one_of

BalancingFunction = Callable[[Tensor], Tensor]


def square_root(log_ratio: Tensor) -> Tensor:
    """g(t) = sqrt(t)."""
    return 0.5 * log_ratio


def barker(log_ratio: Tensor) -> Tensor:
    """g(t) = t / (1 + t)."""
    # Not logsigmoid: how that rounds depends on an element's place in memory.
    return log_ratio.clamp(max=0.0) - log_ratio.abs().neg_().exp_().add_(1.0).log_()


def minimum(log_ratio: Tensor) -> Tensor:
    """g(t) = min(1, t)."""
    return log_ratio.clamp(max=0.0)


def maximum(log_ratio: Tensor) -> Tensor:
    """g(t) = max(1, t)."""
    return log_ratio.clamp(min=0.0)


FUNCTIONS: dict[str, BalancingFunction] = {
    "sqrt": square_root,
    "barker": barker,
    "min": minimum,
    "max": maximum,
}

FROM_ROOT: dict[BalancingFunction, Callable[[Tensor], Tensor]] = {
    square_root: torch.reciprocal,
    barker: lambda root: root.square().add_(1.0).reciprocal_(),
    minimum: torch.ones_like,
    maximum: lambda root: root.square().reciprocal_(),
}
"""g(t) for t of at least 1 from 1 / sqrt(t): as the function itself gives it, without exponentials."""

PROBED, TOLERANCE = 20.0, 1e-6
"""A function of a user is looked at for log t from -`PROBED` to `PROBED`."""


def balancing_function(given: Any) -> BalancingFunction:
    """The function of that name, or the one of a user's own.

    Args:
        given: ``sqrt``, ``barker``, ``min``, ``max``; or a function of log t that gives log g(t), a tensor of
            the same shape, or its path, such as ``mypackage.functions.cube_root``.

    Raises:
        ValueError: for a name that is unknown, a path without a function, or a function that is not balanced.
    """
    key = "balancing_function"
    if not callable(given) and (not isinstance(given, str) or "." not in given):
        return FUNCTIONS[one_of(key, given, FUNCTIONS)]
    try:
        found = given if callable(given) else pkgutil.resolve_name(given)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"{key} must be a name or the path of a function, {given!r}: {error}") from error
    logs = torch.linspace(-PROBED, PROBED, 81, dtype=torch.float64)
    try:
        off = float((found(logs) - found(-logs) - logs).abs().max())
    except Exception as error:
        raise ValueError(
            f"{key} must take log t and give log g(t), {given!r} raises {type(error).__name__}"
        ) from error
    if not off <= TOLERANCE:
        raise ValueError(
            f"{key} must give log g(t) for log t with g(t) = t g(1/t), {given!r} is off by {off:.2g} in log g"
        )
    balanced: BalancingFunction = found
    return balanced
