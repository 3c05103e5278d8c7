"""What samplers are checked on: small rugged targets, or the one that the command names."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from omegaconf import DictConfig

from runner.config.overrides import parse
from runner.execution.errors import UserError
from runner.problem.build import build_target
from runner.tools.exactness.small_targets import SPACES, log_quadratic, small_rbm
from runner.tools.exactness.small_tours import SmallTours
from targets.spaces import Discrete
from targets.target import Target

LARGEST = 1_000
"""Most states of a target; its transition matrix then has a million entries."""


def targets(arguments: Sequence[str], config: DictConfig) -> dict[str, Target]:
    """The targets in float64, by their names in the report.

    Raises:
        UserError: if the target named cannot be listed, or is too large for it.
    """
    if not any(o.key_or_group.split(".", 1)[0] == "target" for o in parse(arguments)):
        quadratic: dict[str, Target] = {name: log_quadratic(space) for name, space in SPACES.items()}
        return {**quadratic, "RBM 2^3": small_rbm(), "tours 3!": SmallTours()}
    target = build_target(config).to(torch.float64)
    name = str(config.target.get("name", config.target._target_))
    if not isinstance(target.space, Discrete):
        raise UserError(f"target={name} has no states to enumerate: its space is {target.space}.")
    if target.space.size > LARGEST:
        raise UserError(f"target={name} has too many states to enumerate, {LARGEST} is the limit.")
    return {name: target}
