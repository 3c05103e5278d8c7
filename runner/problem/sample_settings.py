"""The settings of the task `sample`, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from runner.config.construct import errors_at
from runner.execution.errors import UserError
from runner.store.arrays.draws_netcdf import require_netcdf
from targets.checks import one_of, whole_number

if TYPE_CHECKING:
    from targets.target import Target

STARTS = ("uniform", "random", "one_mode", "exact")


@dataclass(frozen=True)
class SampleSettings:
    """How long a run is and where it starts.

    Attributes:
        steps: transitions of every chain, burn-in included.
        chains: independent chains of each seed.
        burn_in: steps whose draws are not measured.
        start: ``uniform`` on the space, ``random`` (`Target.initial`), ``one_mode`` (all chains at the first
            mode) or ``exact`` (independent exact draws from the target at beta = 1; replicas and levels of
            tempering have them, too, so that their first draws do not follow the target).
        record: at how many points of the run at most, its end among them, metrics are written; 0: at its end.
        keep: draws of each chain that are written at most; 0 for none.
        series: at how many steps, at most, metrics of series such as `ess` keep values; 0: as they choose.
    """

    steps: int
    chains: int
    burn_in: int
    start: str
    record: int
    keep: int
    series: int

    def points(self) -> list[int]:
        """The steps after which metrics are written: log-spaced behind the burn-in, and the end."""
        measured = self.steps - self.burn_in
        spaced = {
            self.burn_in + max(1, round(measured ** (place / self.record)))
            for place in range(1, self.record + 1)
        }
        return sorted(spaced | {self.steps})


def sample_settings(config: DictConfig, target: Target | None = None) -> SampleSettings:
    """The checked settings of `config.task`; without a target, what depends on it is left unchecked.

    Raises:
        UserError: naming the key, the value given and what is allowed.
    """
    try:
        task = OmegaConf.to_container(config.task, resolve=True)
    except OmegaConfBaseException as error:
        raise UserError(f"task cannot be resolved: {str(error).splitlines()[0]}.") from error
    assert isinstance(task, dict)
    with errors_at("task", task):
        settings = SampleSettings(
            steps=whole_number("steps", task.get("steps")),
            chains=whole_number("chains", task.get("chains")),
            burn_in=whole_number("burn_in", task.get("burn_in"), 0),
            start=one_of("start", task.get("start"), STARTS),
            record=whole_number("record", task.get("record"), 0),
            keep=whole_number("keep", task.get("keep", 0), 0),
            series=whole_number("series", task.get("series", 0), 0),
        )
    if settings.burn_in >= settings.steps:
        raise UserError(
            f"task.burn_in must be less than task.steps={settings.steps}, {settings.burn_in} was given."
        )
    if settings.start == "one_mode" and target is not None and getattr(target, "modes", None) is None:
        raise UserError(
            f"task.start=one_mode needs a target with known modes, {type(target).__name__} has none."
        )
    if settings.start == "exact" and target is not None and not _has_exact_draws(target):
        raise UserError(
            f"task.start=exact needs a target that can be sampled exactly, {type(target).__name__} cannot."
        )
    if settings.start == "uniform" and target is not None and _is_real(target):
        raise UserError(
            f"task.start=uniform is not for targets on the reals, such as {type(target).__name__}: no "
            "distribution there is uniform; task.start=random takes the target's own start."
        )
    if settings.keep:
        require_netcdf(f"task.keep={settings.keep}")
    return settings


def _is_real(target: Target) -> bool:
    from targets.spaces import Real  # with torch, which is there where there is a target

    return isinstance(target.space, Real)


def _has_exact_draws(target: Target) -> bool:
    from targets.target import ExactlySampled

    return isinstance(target, ExactlySampled)
