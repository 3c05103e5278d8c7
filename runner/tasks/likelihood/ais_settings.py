"""The settings of annealed importance sampling, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

from runner.config.construct import errors_at
from runner.config.key_group import group, node
from runner.execution.errors import UserError, one_sentence
from targets.checks import whole_number

if TYPE_CHECKING:
    from torch import Tensor

    from samplers.kernel import Kernel
    from targets.target import Target


@dataclass(frozen=True)
class AISSettings:
    """How log Z is estimated.

    Attributes:
        betas: inverse temperatures from 0 to 1.
        chains: chains of each annealing, and of each of its repeats.
        draw_steps: steps, from training images, behind the draws that reverse annealing starts from: of
            block Gibbs for an RBM, else of `kernel`.
        kernel: the transition, for models that are no RBM.
        repeats: independent repeats of each annealing of such a model.
    """

    betas: Tensor
    chains: int
    draw_steps: int
    kernel: Kernel
    repeats: int


def ais_settings(config: DictConfig) -> AISSettings:
    """The checked settings of `task.ais`.

    Raises:
        UserError: naming the key that is refused.
    """
    from metrics.likelihood.ais_schedule import FEWEST_STEPS, schedule

    given, numbers = _given(config), ais_numbers(config)
    with errors_at("task.ais", given):
        betas = schedule(given.get("temperatures", 0), str(given.get("schedule")), FEWEST_STEPS)
    return AISSettings(betas=betas, kernel=_kernel(given.get("sampler")), **numbers)


def ais_numbers(config: DictConfig) -> dict[str, int]:
    """The whole numbers among them by name, checked; imports no torch.

    Raises:
        UserError: naming the key that is refused.
    """
    given = _given(config)
    with errors_at("task.ais", given):
        return {
            "chains": whole_number("chains", given.get("chains"), 2),
            "draw_steps": whole_number("draw_steps", given.get("draw_steps")),
            "repeats": whole_number("repeats", given.get("repeats")),
        }


def _given(config: DictConfig) -> dict[str, Any]:
    return group(node(config, "task").get("ais"), "task.ais")


BLOCK_GIBBS_UNREAD = ("sampler", "repeats")
"""Keys of `task.ais` that the likelihood of a model with block Gibbs does not read."""


def annealing_identity(task: dict[str, Any], model: type[Target]) -> dict[str, Any]:
    """The node of a task that anneals, without what it does not read for models of this class.

    Where there are repeats, it says that their streams are not those of earlier versions.
    """
    ais = task.get("ais")
    if not isinstance(ais, dict):
        return task
    if not getattr(model, "block_gibbs", False):
        return {**task, "ais": {**ais, "stream_state": "hash"}}
    return {**task, "ais": {key: value for key, value in ais.items() if key not in BLOCK_GIBBS_UNREAD}}


def _kernel(described: Any) -> Kernel:
    """The transition that `task.ais.sampler` describes.

    Raises:
        UserError: if it cannot be built, is no `Kernel` or cannot anneal.
    """
    from metrics.likelihood.target_annealing import check_annealing_kernel
    from runner.config.construct_sampler import construct_sampler
    from samplers.tuning.tunable import fixed

    key = "task.ais.sampler"
    if not isinstance(described, Mapping):
        raise UserError(f"{key} must be a group of keys with a _target_, {described!r} was given.")
    sampler = construct_sampler(described, key)
    try:
        check_annealing_kernel(sampler)
    except ValueError as error:
        raise UserError(f"{key}: {one_sentence(error)}.") from error
    return fixed(sampler)
