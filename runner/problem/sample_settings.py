"""The settings of the task `sample`, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from runner.execution.errors import UserError, listed, nearest
from targets.target import Target

STARTS = ("uniform", "random", "one_mode")


@dataclass(frozen=True)
class SampleSettings:
    """How long a run is and where it starts.

    Attributes:
        steps: transitions of every chain, burn-in included.
        chains: independent chains of each seed.
        burn_in: steps whose draws are not measured.
        start: ``uniform`` on the space, ``random`` (`Target.initial`) or ``one_mode`` (all chains at the
            first mode).
        record: at how many points of the run, besides its end, metrics are written.
    """

    steps: int
    chains: int
    burn_in: int
    start: str
    record: int

    def points(self) -> list[int]:
        """The steps after which metrics are written: log-spaced behind the burn-in, and the end."""
        measured = self.steps - self.burn_in
        spaced = {
            self.burn_in + max(1, round(measured ** (place / self.record)))
            for place in range(1, self.record + 1)
        }
        return sorted(spaced | {self.steps})


def sample_settings(config: DictConfig, target: Target) -> SampleSettings:
    """The checked settings of `config.task`.

    Raises:
        UserError: naming the key, the value given and what is allowed.
    """
    try:
        task = OmegaConf.to_container(config.task, resolve=True)
    except OmegaConfBaseException as error:
        raise UserError(f"task cannot be resolved: {str(error).splitlines()[0]}.") from error
    assert isinstance(task, dict)
    settings = SampleSettings(
        steps=_whole(task, "steps", 1),
        chains=_whole(task, "chains", 1),
        burn_in=_whole(task, "burn_in", 0),
        start=str(task.get("start")),
        record=_whole(task, "record", 0),
    )
    if settings.burn_in >= settings.steps:
        raise UserError(
            f"task.burn_in must be less than task.steps={settings.steps}, {settings.burn_in} was given."
        )
    if settings.start not in STARTS:
        hint = nearest(settings.start, STARTS)
        raise UserError(
            f"task.start must be one of {listed(STARTS)}, {task.get('start')!r} was given{hint or '.'}"
        )
    if settings.start == "one_mode" and getattr(target, "modes", None) is None:
        raise UserError(
            f"task.start=one_mode needs a target with known modes, {type(target).__name__} has none."
        )
    return settings


def _whole(task: Mapping[Any, Any], key: str, minimum: int) -> int:
    value = task.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
        raise UserError(f"task.{key} must be a whole number of at least {minimum}, {value!r} was given.")
    return value
