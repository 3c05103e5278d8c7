"""Loggers: what gets a copy of the results besides the disk. One that fails never stops a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from runner.execution.errors import one_sentence, warn

if TYPE_CHECKING:
    import numpy as np


class Logger(Protocol):
    """What a logger must do; several runs may be open at once."""

    def start(self, run_id: str, config: Mapping[str, Any]) -> None:
        """A run starts or continues; `config` is its resolved configuration."""
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


class SafeLogger:
    """A `Logger` around another one, which may be absent and whose first failure becomes one warning.

    It is given no empty group of images.
    """

    def __init__(self, logger: Logger | None = None) -> None:
        self.logger = logger

    def start(self, run_id: str, config: Mapping[str, Any]) -> None:
        self._call("start", run_id, config)

    def log(self, run_id: str, step: int, values: Mapping[str, float]) -> None:
        self._call("log", run_id, step, values)

    def images(self, run_id: str, images: Mapping[str, np.ndarray]) -> None:
        if images:
            self._call("images", run_id, images)

    def finish(self, run_id: str, summary: Mapping[str, Any], failed: bool = False) -> None:
        self._call("finish", run_id, summary, failed)

    def table(self, experiment: str, scale: str, folder: Path) -> None:
        self._call("table", experiment, scale, folder)

    def _call(self, method: str, *arguments: Any) -> None:
        if self.logger is None:
            return
        try:
            getattr(self.logger, method)(*arguments)
        except Exception as error:
            self.logger = None
            warn(
                f"the logger failed at {method} ({type(error).__name__}: {one_sentence(error)}); "
                "the results on disk are complete, and python -m runner.wandb_sync copies them later."
            )
