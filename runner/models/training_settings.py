"""The settings of contrastive divergence, and their checks."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from runner.config.construct import errors_at
from targets.checks import is_number, one_of, positive_number, whole_number, within

METHODS = ("cd", "pcd")
DECAYS = ("none", "linear")

LATER = (
    "buffer",
    "reinitialisation",
    "warm_up",
    "gradient_penalty",
    "energy_penalty",
    "validate_every",
)
"""Settings that were added after identities existed: at their defaults they do not enter an identity."""


@dataclass(frozen=True)
class TrainingSettings:
    """Contrastive divergence (Hinton 2002) or its persistent form (Tieleman 2008), with Adam.

    Attributes:
        method: ``cd``, where the chains start from the batch in every iteration, or ``pcd``, where they
            continue from the last iteration.
        cd_steps: steps of the sampler in every iteration.
        iterations: number of updates of the parameters.
        batch: images per update; the incomplete last batch of an epoch is dropped.
        chains: number of persistent chains; with ``cd`` there is one for each image of the batch instead.
        learning_rate: of Adam, before decay.
        learning_rate_decay: ``none``, or ``linear`` to 0 after the last iteration, as Tieleman does.
        weight_decay: lambda of the penalty lambda |W|^2 / 2 on matrices; biases have none.
        averaging: decay of the exponential moving average of the parameters, from 0 to 1; the final model is
            the average, or with 0 the parameters of the last iteration.
        tune_every: iterations between tunings of the sampler's ``auto`` settings, the first before the first
            iteration; None: only that one.
        buffer: number of states in the replay buffer, from which every iteration takes `chains` and puts them
            back (`runner.models.training.replay_buffer`); None: the chains themselves persist.
        reinitialisation: probability that a chain taken from the buffer is reinitialised.
        warm_up: iterations over which the learning rate increases linearly to `learning_rate`; 0: none.
        gradient_penalty: lambda of lambda mean |grad_x U(data)|^2, added to the loss.
        energy_penalty: lambda of lambda (mean U(data)^2 + mean U(samples)^2), added to the loss.
        validate_every: iterations between validations, with one more at the end; the final model is the
            validated average with the best score. None: no validation.
        tuning_effort: of a pilot, as a share of the full one.
        compiled: whether steps of the sampler are compiled; ``auto``: where that fails they are not.

    Raises:
        ValueError: naming the key, the value given and what is allowed.
    """

    method: str = "cd"
    cd_steps: int = 10
    iterations: int = 1000
    batch: int = 100
    chains: int = 100
    learning_rate: float = 0.001
    learning_rate_decay: str = "none"
    weight_decay: float = 0.0
    averaging: float = 0.0
    tune_every: int | None = None
    buffer: int | None = None
    reinitialisation: float = 0.0
    warm_up: int = 0
    gradient_penalty: float = 0.0
    energy_penalty: float = 0.0
    validate_every: int | None = None
    tuning_effort: float = 1.0
    compiled: bool | str = False

    def __post_init__(self) -> None:
        one_of("method", self.method, METHODS)
        for key in ("cd_steps", "iterations", "batch", "chains"):
            whole_number(key, getattr(self, key))
        positive_number("learning_rate", self.learning_rate)
        one_of("learning_rate_decay", self.learning_rate_decay, DECAYS)
        within("weight_decay", self.weight_decay, 0.0, 1.0)
        within("averaging", self.averaging, 0.0, 0.999999)
        for key in ("tune_every", "buffer", "validate_every"):
            _count_or_null(key, getattr(self, key))
        self._check_buffer()
        whole_number("warm_up", self.warm_up, 0)
        for key in ("gradient_penalty", "energy_penalty"):
            value = getattr(self, key)
            if not is_number(value) or not 0.0 <= value < math.inf:
                raise ValueError(f"{key} must be a number of at least 0, {value!r} was given")

    @property
    def steps(self) -> int:
        """Steps of the sampler in all iterations."""
        return self.iterations * self.cd_steps

    def _check_buffer(self) -> None:
        within("reinitialisation", self.reinitialisation, 0.0, 1.0)
        if self.buffer is None:
            if self.reinitialisation > 0:
                raise ValueError(
                    f"reinitialisation must be 0 without a buffer, {self.reinitialisation!r} was given"
                )
            return
        if self.method != "pcd":
            raise ValueError(
                f"buffer must be null with method={self.method}, whose chains start from the data, "
                f"{self.buffer!r} was given"
            )
        if self.buffer < self.chains:
            raise ValueError(
                f"buffer must be at least the number of chains, {self.chains}, {self.buffer!r} was given"
            )


ELSEWHERE = ("tuning_effort", "compiled")
"""Settings that a configuration has under keys of its own."""

SETTINGS = tuple(each.name for each in fields(TrainingSettings) if each.name not in ELSEWHERE)
"""The keys of a configuration that are settings."""


def _count_or_null(key: str, value: object) -> None:
    if value is None:
        return
    try:
        whole_number(key, value)
    except ValueError as error:
        raise ValueError(
            f"{key} must be null or a whole number of at least 1, {value!r} was given"
        ) from error


def training_settings(given: Mapping[str, Any], key: str, tuning_effort: float) -> TrainingSettings:
    """The settings among the keys of `given`, which stands at `key`; imports no torch.

    Raises:
        UserError: naming the key that is refused.
    """
    values = {name: given[name] for name in SETTINGS if name in given}
    with errors_at(key, values, TypeError):
        return TrainingSettings(**values, tuning_effort=tuning_effort)


UNCHANGED = {each.name: each.default for each in fields(TrainingSettings) if each.name in LATER}
"""The defaults of `LATER`."""


def essential(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by name without those that do not enter an identity: keys of `LATER` at their defaults.

    Without validations the settings of validations are dropped too.
    """
    kept = {key: value for key, value in values.items() if key not in LATER or value != UNCHANGED[key]}
    if "validate_every" not in kept:
        kept.pop("validation", None)
    return kept


def with_defaults(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """What `essential` has left of some settings, with those of `names` that it dropped."""
    return {**{key: value for key, value in UNCHANGED.items() if key in names}, **values}
