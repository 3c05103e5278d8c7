"""Warns of a gradient of somebody else's target that is not that of its log density."""

from __future__ import annotations

from runner.execution.errors import warn
from runner.integrity.own_code import is_ours
from targets.target import Target
from targets.trial.gradient_trial import gradient_departure


def warn_of_gradient(name: str, target: Target) -> None:
    """Prints a warning where it departs; it may be meant so, and the run goes on.

    Args:
        name: what the target is called in the warning.
    """
    if not is_ours(type(target)) and (sentence := gradient_departure(name, target)):
        warn(f"{sentence}.")
