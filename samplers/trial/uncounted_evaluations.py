"""Whether a kernel that reports no evaluations of the target evaluates it all the same."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, State
from targets.randomness import Generator
from targets.target import Target

EVALUATIONS = ("log_prob", "log_prob_and_grad", "log_prob_and_differences", "noisy_log_prob")
"""The methods of a target that evaluate it."""

STEPS = 10
"""How many steps are watched: one in which no chain rejects does not show what its evaluation was for."""

T = TypeVar("T", bound=Target)
Calls = list[tuple[str, Tensor]]


def check_uncounted(
    name: str, kernel: Kernel, target: Target, state: State, beta: Tensor, generator: Generator
) -> None:
    """Refuses a kernel whose steps from `state` evaluate the target and report 0 evaluations.

    A kernel that draws without the log density, such as an exact one, may look it up for the new state, which
    holds it. So `log_prob` of the new states is no evaluation where no chain can reject.

    Raises:
        ValueError: naming the method of the target that was called.
    """
    calls: Calls = []
    watched = _watched(target, calls)
    for _ in range(STEPS):
        calls.clear()
        state, info = kernel.step(watched, state, beta, generator)
        made = [method for method, theta in calls if not _is_look_up(method, theta, state, info)]
        if made and info.evaluations == 0:
            raise ValueError(
                f"{name}.step must count its evaluations of the target in Info.evaluations, it called "
                f"{made[0]} and gave 0"
            )


def _is_look_up(method: str, theta: Tensor, after: State, info: Info) -> bool:
    """Whether a call only told the new states' log density, on which nothing of the step depends."""
    new = theta.shape == after.theta.shape and torch.equal(theta, after.theta)
    return new and method == "log_prob" and bool((info.acceptance == 1.0).all())


def _watched(target: T, calls: Calls) -> T:
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
