"""Subsets of a target's states for restricted gaps (STMH, Definition 1), as the key `restrict` names them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from samplers.hyperparameters import positive
from targets.checks import is_number, one_of
from targets.spaces import Discrete
from targets.target import HasModes, Target

MODE, BALL, LEVEL, STATES = "mode", "ball", "level", "states"
RULES = (MODE, BALL, LEVEL)


def check_restriction(target: Target, restrict: Any, radius: Any) -> None:
    """Refuses a restriction that is not defined for `target`, without computing it. None is no restriction.

    Args:
        restrict: ``mode``, ``ball``, ``level``, or a list of states, each a list of its coordinates.
        radius: of the ball; ignored otherwise.

    Raises:
        ValueError: naming what is not allowed.
    """
    if restrict is None or restrict == LEVEL:
        return
    if isinstance(restrict, list):
        _listed(target, restrict)
        return
    if one_of("restrict", restrict, RULES) == BALL:
        positive("radius", radius)
    elif not isinstance(target, HasModes):
        raise ValueError(f"restrict=mode needs a target with known modes, {type(target).__name__} has none")


def subsets(target: Target, theta: Tensor, restrict: Any, radius: Any) -> dict[str, Tensor]:
    """By name of a subset: which states of `theta` ``(size, *event_shape)`` it contains, bool ``(size,)``.

    - ``mode``: one subset per mode, ``mode_0`` and so on: the states for which it has the largest
      responsibility, the first mode if several are equal.
    - ``ball``: the states with a norm of at most `radius`, as in STMH, section C.2.
    - a list of states: the subset of these states.

    Raises:
        ValueError: as `check_restriction`.
    """
    check_restriction(target, restrict, radius)
    if isinstance(restrict, list):
        wanted = _listed(target, restrict).to(theta)
        return {STATES: (theta.flatten(1).unsqueeze(1) == wanted).all(-1).any(-1)}
    if restrict == BALL:
        return {BALL: theta.double().flatten(1).norm(dim=-1) <= float(radius)}
    assert isinstance(target, HasModes)
    nearest = target.responsibilities(theta).argmax(-1)
    return {f"{MODE}_{k}": nearest == k for k in range(len(target.modes))}


def _listed(target: Target, restrict: list[Any]) -> Tensor:
    """The states in `restrict` ``(states, coordinates)``, all of them in the target's space."""
    space = target.space
    if not isinstance(space, Discrete):
        raise ValueError(f"restrict must be mode or ball on {space}, a list of states was given")
    known = space.states().flatten(1).double()
    width = known.shape[1]
    for state in restrict:
        row = state if isinstance(state, list) else [state]
        fits = len(row) == width and all(map(is_number, row))
        if not fits or not bool((known == torch.tensor(row, dtype=torch.float64)).all(-1).any()):
            raise ValueError(
                f"restrict must list states of {space}, each of {width} numbers, {state!r} was given"
            )
    if not restrict:
        raise ValueError("restrict must list at least two states, [] was given")
    return torch.tensor([s if isinstance(s, list) else [s] for s in restrict], dtype=torch.float64)
