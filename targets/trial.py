"""Tries a target on a few states, before chains run on it."""

from __future__ import annotations

from torch import Tensor

from targets.checks import described
from targets.target import Target


def require_target(given: object) -> None:
    """Raises TypeError, in one sentence, unless a target was given."""
    if not isinstance(given, Target):
        raise TypeError(
            "target must be a targets.Target, or targets.FunctionTarget(function, space) around a function; "
            f"{described(given)} was given"
        )


def try_target(name: str, target: Target, theta: Tensor, *, gradient: bool) -> None:
    """Refuses a target whose log density is of the wrong shape or type or not finite at `theta`.

    Args:
        name: what the target is called in the message.
        theta: states ``(*batch, *event_shape)``, as `Target.initial` gave them.
        gradient: whether its gradient will be needed.

    Raises:
        ValueError: naming what it gave and what was expected, in one sentence.
    """
    try:
        log_prob = target.log_prob(theta)
    except Exception as error:
        raise ValueError(f"The target {name} cannot be evaluated: {_said(error)}") from error
    batch = tuple(target.space.batch_shape(theta))
    if not isinstance(log_prob, Tensor) or tuple(log_prob.shape) != batch:
        got = tuple(log_prob.shape) if isinstance(log_prob, Tensor) else type(log_prob).__name__
        raise ValueError(f"The target {name} gave log densities of shape {got}, {batch} was expected.")
    if not bool(log_prob.isfinite().all()):
        found = log_prob.flatten()[:8].tolist()
        raise ValueError(
            f"The target {name} gave the log density {found} at its initial states, finite numbers were "
            "expected."
        )
    if gradient:
        try:
            target.log_prob_and_grad(theta)
        except Exception as error:
            raise ValueError(
                f"The target {name} gives no gradient, which the sampler needs ({_said(error)})."
            ) from error
    if log_prob.dtype != theta.dtype:
        raise ValueError(
            f"The target {name} gave log densities of type {log_prob.dtype}, {theta.dtype} was expected."
        )


def _said(error: Exception) -> str:
    """The type and the message of `error` on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
