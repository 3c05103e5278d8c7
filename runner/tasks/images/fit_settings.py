"""How a network is fitted to images, checked without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig

from runner.config.construct import errors_at
from runner.config.key_group import group, node
from targets.checks import one_of, positive_number, whole_number


@dataclass(frozen=True)
class FitSettings:
    """How a network is fitted: Adam (Kingma and Ba 2015), so many passes over the data.

    Raises:
        ValueError: naming the setting that is refused.
    """

    epochs: int
    batch: int
    learning_rate: float

    def __post_init__(self) -> None:
        whole_number("epochs", self.epochs)
        whole_number("batch", self.batch)
        positive_number("learning_rate", self.learning_rate)


def fit_settings(given: Mapping[str, Any], key: str) -> FitSettings:
    """The settings in `given`, which stands at `key`.

    Raises:
        UserError: naming what is refused.
    """
    with errors_at(key, given, TypeError):
        return FitSettings(**given)


AUTOENCODER, CLASSIFIER = "task.autoencoder", "task.classifier"
"""Where the settings of both kinds of network stand."""


DESCRIBED, RELEASED = "described", "released"
"""The protocols of `task.protocol`: what the paper describes, and what its released code does."""


@dataclass(frozen=True)
class AutoencoderSettings:
    """Which autoencoders.

    Attributes:
        networks: how many.
        fit: how each is fitted.
        code: size of the code; None: it need not compress. Read by the protocol ``described`` alone.
        protocol: ``described`` or ``released``.
    """

    networks: int
    fit: FitSettings
    code: int | None = None
    protocol: str = DESCRIBED


def autoencoder_values(config: DictConfig) -> AutoencoderSettings:
    """The settings at `task.autoencoder`, checked as far as they do not depend on the images.

    Raises:
        UserError: naming what is refused.
    """
    given = group(node(config, "task").get("autoencoder"), AUTOENCODER)
    with errors_at(AUTOENCODER, given):
        networks, code = whole_number("networks", given.get("networks")), given.get("code")
        if code is not None:
            whole_number("code", code)
    with errors_at("task", node(config, "task")):
        protocol = one_of("protocol", node(config, "task").get("protocol"), (DESCRIBED, RELEASED))
    fit = {key: value for key, value in given.items() if key not in ("networks", "code")}
    return AutoencoderSettings(networks, fit_settings(fit, AUTOENCODER), code, protocol)


def classifier_settings(config: DictConfig) -> FitSettings:
    """The checked settings at `task.classifier`.

    Raises:
        UserError: naming what is refused.
    """
    return fit_settings(group(node(config, "task").get("classifier"), CLASSIFIER), CLASSIFIER)
