"""How a model is trained: the settings of contrastive divergence, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from samplers.hyperparameters import count, is_number, one_of, positive, within

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
"""Settings that came after models had been named: at their defaults they are no part of a name."""


@dataclass(frozen=True)
class TrainingSettings:
    """Contrastive divergence (Hinton 2002) or its persistent form (Tieleman 2008), with Adam.

    Attributes:
        method: ``cd``, where the chains start from the batch in every iteration, or ``pcd``, where they go
            on from the last one.
        cd_steps: steps of the sampler in every iteration.
        iterations: updates of the parameters, whatever that is in epochs.
        batch: images per update; what is left of an epoch is dropped.
        chains: persistent chains; with ``cd`` there is one for each image of the batch instead.
        learning_rate: of Adam, in the first iteration.
        learning_rate_decay: ``none``, or ``linear`` to 0 after the last iteration, as Tieleman does.
        weight_decay: lambda of the penalty lambda |W|^2 / 2 on matrices; biases have none.
        averaging: share of the running average of the parameters that an iteration keeps, from 0 to 1; the
            model is the average in the end, or with 0 what the last iteration left.
        tune_every: what the sampler leaves to tuning is tuned before the first iteration and again every so
            many; None: before the first alone.
        buffer: how many persistent states there are, of which every iteration takes `chains` and puts them
            back (`runner.models.training.replay_buffer`); None: the chains themselves persist.
        reinitialisation: probability that a chain taken from the buffer starts anew.
        warm_up: iterations over which the learning rate rises linearly to the given one; 0: none.
        gradient_penalty: lambda of lambda mean |grad_x U(data)|^2, added to the loss.
        energy_penalty: lambda of lambda (mean U(data)^2 + mean U(samples)^2), added to the loss.
        validate_every: iterations between validations, of which there is also one at the end; the model is
            then the best of those that were validated. None: no validation.

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

    def __post_init__(self) -> None:
        one_of("method", self.method, METHODS)
        for key in ("cd_steps", "iterations", "batch", "chains"):
            count(key, getattr(self, key))
        positive("learning_rate", self.learning_rate)
        one_of("learning_rate_decay", self.learning_rate_decay, DECAYS)
        within("weight_decay", self.weight_decay, 0.0, 1.0)
        within("averaging", self.averaging, 0.0, 0.999999)
        for key in ("tune_every", "buffer", "validate_every"):
            _count_or_null(key, getattr(self, key))
        self._check_buffer()
        count("warm_up", self.warm_up, 0)
        for key in ("gradient_penalty", "energy_penalty"):
            value = getattr(self, key)
            if not is_number(value) or not 0.0 <= value < math.inf:
                raise ValueError(f"{key} must be a number of at least 0, {value!r} was given")

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


def _count_or_null(key: str, value: object) -> None:
    if value is None:
        return
    try:
        count(key, value)
    except ValueError as error:
        raise ValueError(
            f"{key} must be null or a whole number of at least 1, {value!r} was given"
        ) from error


def essential(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values`, of settings by name, without what changes nothing: a later key at its default.

    Without validations, the settings of those go, too.
    """
    defaults = {each.name: each.default for each in fields(TrainingSettings) if each.name in LATER}
    kept = {key: value for key, value in values.items() if key not in LATER or value != defaults[key]}
    if "validate_every" not in kept:
        kept.pop("validation", None)
    return kept
