"""Loggers: what gets a copy of the results besides the disk. One that fails never stops a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from runner.execution.errors import one_sentence, warn

if TYPE_CHECKING:
    from runner.store.arrays.pictures import Making


class Logger(Protocol):
    """What a logger must do; several runs may be open at once."""

    def has(self, run_id: str, content: Mapping[str, Any]) -> bool:
        """Whether a run that is done has been given before, with the summary `content`."""
        ...

    def start(self, run_id: str, config: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """A run starts or continues.

        Args:
            config: its resolved configuration.
            about: its manifest, `finished` where it was done before, its `settings`, and as `searched` the
                overrides of Hydra that say where else configurations are.
        """
        ...

    def state(self, run_id: str, title: str) -> None:
        """What a run is doing that is no step of its own: a training, a tuning."""
        ...

    def log(
        self, run_id: str, step: int, values: Mapping[str, float], pictures: Making | None = None
    ) -> None:
        """What a run measured and can show after `step` steps, as recorded; a step may be said again."""
        ...

    def training(
        self, run_id: str, iteration: int, values: Mapping[str, float], pictures: Making | None = None
    ) -> None:
        """How far the training is of the model that a run waits for, and what its chains are."""
        ...

    def finish(self, run_id: str, summary: Mapping[str, Any], failed: bool = False) -> None:
        """A run has ended; `summary` is what is on disk."""
        ...

    def table(self, experiment: str, scale: str, folder: Path) -> None:
        """A table has been rendered into `folder`."""
        ...

    def places(self) -> list[str]:
        """A sentence for each place where the results can be seen besides the disk."""
        ...


class SafeLogger:
    """A `Logger` around another one, which may be absent and whose first failure becomes one warning.

    Args:
        later: the command that copies the results from the disk.
    """

    def __init__(self, logger: Logger | None = None, later: str = "python -m runner.wandb_sync runs") -> None:
        self.logger, self.later = logger, later

    def has(self, run_id: str, content: Mapping[str, Any]) -> bool:
        return self.logger is None or bool(self._call("has", run_id, content))

    def start(self, run_id: str, config: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        self._call("start", run_id, config, about)

    def state(self, run_id: str, title: str) -> None:
        self._call("state", run_id, title)

    def log(
        self, run_id: str, step: int, values: Mapping[str, float], pictures: Making | None = None
    ) -> None:
        self._call("log", run_id, step, values, pictures)

    def training(
        self, run_id: str, iteration: int, values: Mapping[str, float], pictures: Making | None = None
    ) -> None:
        self._call("training", run_id, iteration, values, pictures)

    def finish(self, run_id: str, summary: Mapping[str, Any], failed: bool = False) -> None:
        self._call("finish", run_id, summary, failed)

    def table(self, experiment: str, scale: str, folder: Path) -> None:
        self._call("table", experiment, scale, folder)

    def places(self) -> list[str]:
        return self._call("places") or []

    def _call(self, method: str, *arguments: Any) -> Any:
        if (logger := self.logger) is None:
            return None
        try:
            return getattr(logger, method)(*arguments)
        except Exception as error:
            # Several runs may be given at once: the first failure speaks for all.
            if self.logger is None:
                return None
            self.logger = None
            warn(
                f"the logger failed at {method} ({type(error).__name__}: {one_sentence(error)}); "
                f"the results on disk are complete; copy them later with: {self.later}"
            )
        return None
