"""Tries a target on a few states, before chains run on it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from targets.checks import described
from targets.spaces import Discrete, Space
from targets.target import HasModes, Target
from targets.trial.failures import failure
from targets.trial.global_generators import without_global_numbers
from targets.trial.gradient_trial import try_gradient
from targets.trial.zero_density import CONSTRAINED

ROUNDING = 1e-3
"""How far the log densities of a state may differ among others and alone, as a share of their size."""

MODES = 64
"""Modes at most at which responsibilities are looked at, beside the starting states."""

SHARES = 1e-3
"""How far rounding may bring a responsibility below 0, or their sum away from 1."""


def require_target(given: object) -> None:
    """Refuses, in one sentence, what is no target that is set up.

    Raises:
        TypeError: for something else.
        ValueError: for a target whose tensors can have no gradient.
    """
    if not isinstance(given, Target):
        raise TypeError(
            "target must be a targets.Target, or targets.FunctionTarget(function, space) around a function; "
            f"{described(given)} was given"
        )
    if lacking := not_set_up(given):
        raise TypeError(f"the target {type(given).__name__} {lacking}")
    if any(tensor.is_inference() for tensor in (*given.parameters(), *given.buffers())):
        raise ValueError(
            f"the target {type(given).__name__} was built inside torch.inference_mode, where tensors have "
            "no gradient; build it outside, or inside torch.no_grad"
        )


def not_set_up(target: Target) -> str:
    """What the constructor of `target` has left undone, as the end of a sentence; empty for nothing."""
    if "_modules" not in vars(target):
        return "must call super().__init__() in its __init__"
    return "" if isinstance(getattr(target, "space", None), Space) else "sets no space (targets.spaces)"


def try_target(name: str, target: Target, theta: Tensor, *, gradient: bool) -> None:
    """Refuses a target whose log density is of the wrong shape or type or not finite at `theta`.

    And one that starts outside of its space, changes `theta`, draws from a global generator, or gives a state
    another log density alone than among others; one whose gradient is not what `try_gradient` expects.

    Args:
        name: what the target is called in the message.
        theta: states ``(*batch, *event_shape)``, as `Target.initial` gave them.
        gradient: whether its gradient will be needed.

    Raises:
        ValueError: naming what it gave and what was expected, in one sentence.
    """
    _check_place(name, target.space, theta)
    given = theta.clone()
    with without_global_numbers(f"The target {name}", "a log density must be the same at every call."):
        log_prob = _evaluated(name, target, theta)
    if not torch.equal(given, theta):
        raise ValueError(f"The target {name} must not change the states that it is given.")
    batch = tuple(target.space.batch_shape(theta))
    if not isinstance(log_prob, Tensor) or tuple(log_prob.shape) != batch:
        got = tuple(log_prob.shape) if isinstance(log_prob, Tensor) else type(log_prob).__name__
        raise ValueError(f"The target {name} gave log densities of shape {got}, {batch} was expected.")
    if not target.constrained and bool(log_prob.isneginf().any()):
        raise ValueError(
            f"The target {name} gave the log density -inf to an initial state, which only a constrained one "
            f"may do: {CONSTRAINED}."
        )
    if not bool(log_prob.isfinite().all()):
        found = log_prob.flatten()[:8].tolist()
        raise ValueError(
            f"The target {name} gave the log density {found} at its initial states, finite numbers were "
            "expected."
        )
    if log_prob.dtype != theta.dtype:
        raise ValueError(
            f"The target {name} gave log densities of type {log_prob.dtype}, {theta.dtype} was expected."
        )
    _try_batches(name, target, theta, log_prob)
    if gradient:
        try_gradient(name, target, theta)


def _check_place(name: str, space: Space, theta: Tensor) -> None:
    """Whether the starting states are states: a sampler would else be blamed, or stay outside for ever."""
    if isinstance(space, Discrete) and (first := space.outsider(theta)):
        raise ValueError(
            f"The target {name} must start in its space {space}, its initial states have {first} among them."
        )


def _evaluated(name: str, target: Target, theta: Tensor) -> Any:
    try:
        return target.log_prob(theta)
    except (Exception, SystemExit) as error:
        raise ValueError(f"The target {name} cannot be evaluated: {failure(error)}.") from error


def _try_batches(name: str, target: Target, theta: Tensor, log_prob: Tensor) -> None:
    """Evaluates the first state by itself, all with one batch axis, and all with one axis more."""
    flat, densities = theta.reshape(-1, *target.space.event_shape), log_prob.flatten()
    batches = (flat[:1], densities[:1]), (flat, densities), (theta.unsqueeze(0), log_prob.unsqueeze(0))
    for states, among in batches:
        found = _evaluated(name, target, states)
        if not isinstance(found, Tensor) or found.shape != among.shape:
            got = f"shape {tuple(found.shape)}" if isinstance(found, Tensor) else described(found)
            raise ValueError(
                f"The target {name} must give one log density for each state, whatever the batch axes; for "
                f"states of shape {tuple(states.shape)} it gave {got}."
            )
        off = ~((found - among).abs() <= ROUNDING * (1.0 + among.abs()))
        if bool(off.any()):
            one, other = float(among[off][0]), float(found[off][0])
            raise ValueError(
                f"The target {name} must give a state the same log density whatever others are beside it; it "
                f"gave {one:.6g} and {other:.6g} to one state."
            )


def try_modes(name: str, target: Target, theta: Tensor) -> None:
    """Refuses a target whose `modes` are no states, or whose `responsibilities` are no shares of them.

    Looks at `theta` and at the modes themselves.

    Raises:
        ValueError: naming what it gave and what was expected, in one sentence.
    """
    if not isinstance(target, HasModes):
        return
    modes, event = getattr(target, "modes", None), tuple(target.space.event_shape)
    if not isinstance(modes, Tensor) or modes.dim() != 1 + len(event) or tuple(modes.shape[1:]) != event:
        got = f"shape {tuple(modes.shape)}" if isinstance(modes, Tensor) else described(modes)
        expected = ", ".join(map(str, ("modes", *event)))
        raise ValueError(f"The modes of {name} must be a tensor of shape ({expected}), not {got}.")
    # At starting states alone a share that is wrong in a mode far from them is not seen.
    for states in (theta, modes[:MODES].to(theta)):
        _try_responsibilities(name, target, states, len(modes))


def _try_responsibilities(name: str, target: Target, theta: Tensor, modes: int) -> None:
    assert isinstance(target, HasModes)
    try:
        shares = target.responsibilities(theta)
    except Exception as error:
        raise ValueError(f"The responsibilities of {name} cannot be evaluated: {failure(error)}.") from error
    expected_shape = (*target.space.batch_shape(theta), modes)
    if not isinstance(shares, Tensor) or tuple(shares.shape) != expected_shape:
        got = f"shape {tuple(shares.shape)}" if isinstance(shares, Tensor) else described(shares)
        raise ValueError(f"The responsibilities of {name} must have the shape {expected_shape}, not {got}.")
    if bool((shares < -SHARES).any()):
        raise ValueError(f"The responsibilities of {name} must be at least 0, not {float(shares.min()):.6g}.")
    off = ~((shares.sum(-1) - 1.0).abs() <= SHARES)
    if bool(off.any()):
        total = float(shares.sum(-1)[off][0])
        raise ValueError(f"The responsibilities of {name} must sum to 1 over the modes, not to {total:.6g}.")
