"""Tries the gradient of a target on a few states: its shape, its type, and the log density beside it."""

from __future__ import annotations

from torch import Tensor

from targets.checks import described
from targets.target import Target
from targets.trial.failures import failure
from targets.trial.some_states import some_states

ROUNDING = 1e-3
"""How far the log density beside a gradient may be from that of `log_prob`, as a share of its size."""

DEPARTURE = 0.01
"""Difference from automatic differentiation of which is told, as a share of the largest coordinate."""


def try_gradient(name: str, target: Target, theta: Tensor) -> None:
    """Refuses a gradient of another shape or type than `theta`, or that is finite at none of its states.

    And a `log_prob_and_grad` of the target's own that gives another log density than `log_prob`.

    Args:
        name: what the target is called in the message.
        theta: states ``(*batch, *event_shape)``, as `Target.initial` gave them.

    Raises:
        ValueError: naming what it gave and what was expected, in one sentence.
    """
    try:
        _, gradient = target.log_prob_and_grad(theta)
    except Exception as error:
        raise ValueError(
            f"The target {name} gives no gradient, which the sampler needs: {failure(error)}."
        ) from error
    if not isinstance(gradient, Tensor) or gradient.shape != theta.shape:
        got = tuple(gradient.shape) if isinstance(gradient, Tensor) else described(gradient)
        raise ValueError(
            f"The target {name} gave gradients of shape {got}, {tuple(theta.shape)} was expected."
        )
    if gradient.dtype != theta.dtype:
        raise ValueError(
            f"The target {name} gave gradients of type {gradient.dtype}, {theta.dtype} was expected."
        )
    # At some states alone it may be infinite, as that of a square root at 0: moves from there are refused.
    finite = gradient.isfinite().flatten(len(target.space.batch_shape(theta))).all(-1)
    if not bool(finite.any()):
        values = gradient[~gradient.isfinite()].flatten()[:4].tolist()
        raise ValueError(
            f"The target {name} gave the gradient {values} in some coordinates of each of its initial "
            "states, finite numbers were expected; a sampler without gradient, such as gibbs, needs none."
        )
    if _is_its_own(target):
        _try_value(name, target)


def gradient_departure(name: str, target: Target) -> str | None:
    """A sentence without a full stop, where a gradient of the target's own departs from automatic ones.

    It may be meant so, on a discrete space above all; None where `log_prob` cannot be differentiated.
    """
    if not _is_its_own(target):
        return None
    try:
        theta = some_states(target)
        _, automatic = Target.log_prob_and_grad(target, theta)
        _, own = target.log_prob_and_grad(theta)
        event = tuple(range(1, theta.dim()))
        off = (own - automatic).abs() > DEPARTURE * (1.0 + automatic.abs().amax(event, keepdim=True))
        off &= own.isfinite() & automatic.isfinite()
    except Exception:  # What fails of its own is refused by `try_gradient`.
        return None
    if not bool(off.any()):
        return None
    return (
        f"the gradient that {name} gives is not that of its log_prob: in one coordinate "
        f"{float(own[off][0]):.6g}, {float(automatic[off][0]):.6g} by automatic differentiation; if "
        "it is not meant so, define log_prob alone"
    )


def _is_its_own(target: Target) -> bool:
    """Whether the gradient is not that which `Target` makes of `log_prob`."""
    return getattr(target.log_prob_and_grad, "__func__", None) is not Target.log_prob_and_grad


def _try_value(name: str, target: Target) -> None:
    theta = some_states(target)
    given, _ = target.log_prob_and_grad(theta)
    own = target.log_prob(theta)
    if not isinstance(given, Tensor) or given.shape != own.shape or given.dtype != own.dtype:
        got = f"{given.dtype}, {tuple(given.shape)}" if isinstance(given, Tensor) else described(given)
        raise ValueError(
            f"The target {name} must give the same log density in log_prob_and_grad as in log_prob, it gave "
            f"{got} in place of {own.dtype}, {tuple(own.shape)}."
        )
    off = ~((given - own).abs() <= ROUNDING * (1.0 + own.abs())) & own.isfinite()
    if bool(off.any()):
        raise ValueError(
            f"The target {name} must give the same log density in log_prob_and_grad as in log_prob; to one "
            f"state they give {float(given[off][0]):.6g} and {float(own[off][0]):.6g}."
        )
