"""Mirrors: whoever is told of the results besides the disk. A mirror that fails never stops a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from omegaconf import DictConfig, OmegaConf

from runner.config.construct import construct
from runner.execution.errors import UserError, one_sentence, warn

if TYPE_CHECKING:
    import numpy as np


class Logger(Protocol):
    """What a mirror is told; several runs may be open at once."""

    def start(self, run_id: str, config: Mapping[str, Any]) -> None:
        """A run begins or continues; `config` is its resolved configuration."""
        ...

    def log(self, run_id: str, step: int, values: Mapping[str, float]) -> None:
        """The metrics of a run after `step` steps."""
        ...

    def images(self, run_id: str, images: Mapping[str, np.ndarray]) -> None:
        """Binary images ``(n, height, width)`` by name: a run's draws, the data that it learned from."""
        ...

    def finish(self, run_id: str, summary: Mapping[str, Any], failed: bool = False) -> None:
        """A run has ended; `summary` is what is on disk."""
        ...

    def table(self, experiment: str, scale: str, folder: Path) -> None:
        """A table has been rendered into `folder`."""
        ...


class Mirror:
    """A `Logger` that may be absent, and whose failures become one warning."""

    def __init__(self, logger: Logger | None) -> None:
        self.logger = logger

    def start(self, run_id: str, config: Mapping[str, Any]) -> None:
        """See `Logger`."""
        self._tell("start", run_id, config)

    def log(self, run_id: str, step: int, values: Mapping[str, float]) -> None:
        """See `Logger`."""
        self._tell("log", run_id, step, values)

    def images(self, run_id: str, images: Mapping[str, np.ndarray]) -> None:
        """See `Logger`; nothing is told where there are none."""
        if images:
            self._tell("images", run_id, images)

    def finish(self, run_id: str, summary: Mapping[str, Any], failed: bool = False) -> None:
        """See `Logger`."""
        self._tell("finish", run_id, summary, failed)

    def table(self, experiment: str, scale: str, folder: Path) -> None:
        """See `Logger`."""
        self._tell("table", experiment, scale, folder)

    def _tell(self, what: str, *message: Any) -> None:
        if self.logger is None:
            return
        try:
            getattr(self.logger, what)(*message)
        except Exception as error:
            self.logger = None
            warn(
                f"the mirror {type(error).__name__} at {what}: {one_sentence(error)}; "
                "the results on disk are complete, and python -m runner.wandb_sync mirrors them later."
            )


_mirrors: dict[str, Mirror] = {}


def mirror(config: DictConfig) -> Mirror:
    """The mirror that ``config.logger`` describes, one per process and configuration.

    Raises:
        UserError: if it cannot be built.
    """
    described = OmegaConf.to_container(config.logger, resolve=True)
    if not isinstance(described, dict):
        raise UserError(f"logger must be a group of keys, {described!r} was given.")
    key = json.dumps(described, sort_keys=True)
    if key not in _mirrors:
        node = {str(name): value for name, value in described.items()}
        _mirrors[key] = Mirror(construct(node, "logger") if node.get("_target_") else None)
    return _mirrors[key]
